import { expect, it } from 'vitest';
import { type ByteString, fromText, ROOT_PATH } from '../../../../lib/byte-string.ts';
import { chosenChanges } from '../../../../lib/sandboxes/changes/chosen-changes.ts';
import type { OwnDirectory, WorkspaceChange } from '../../../../lib/workspaces/workspaces.ts';
import { changesOf } from './changes-of.ts';

it('refuses an entry of a directory without the removal of the file that the directory replaces', async () => {
  const all = changesOf(['s', 'file', 'directory'], ['s/a', undefined, 'file'], ['t', undefined, 'file']);
  await expect(chosenChanges(all, ['s/a', 't'].map(fromText), [])).rejects.toThrow('choose "s", too');
  expect((await chosenChanges(all, [fromText('s')], [])).map(({ path }) => path)).toEqual(['s', 's/a']);
  expect(await chosenChanges(all, [ROOT_PATH], [])).toEqual(all);
});

it('accepts a removal in a directory without the symlink that replaces the directory', async () => {
  const all = changesOf(['a', 'directory', 'link'], ['a/b', 'file', undefined]);
  expect((await chosenChanges(all, [fromText('a/b')], [])).map(({ path }) => path)).toEqual(['a/b']);
});

it('refuses either path of a renamed directory without the other', async () => {
  const all = changesOf(
    ['d', 'directory', undefined],
    ['d/x', 'file', undefined],
    ['e', undefined, 'directory'],
    ['e/x', undefined, 'file'],
  );
  const own = [{ id: 1, path: fromText('e'), origin: fromText('d'), replaces: false }];
  await expect(chosenChanges(all, [fromText('d')], own)).rejects.toThrow('directory "e"; choose all of it');
  await expect(chosenChanges(all, [fromText('e')], own)).rejects.toThrow('directory "d"; choose all of it');
  expect(await chosenChanges(all, ['d', 'e'].map(fromText), own)).toEqual(all);
});

it('refuses a directory that took the place of a renamed one without what it has, also where it is equal', async () => {
  const own = [
    ['d', 'c'],
    ['c', 'b'],
    ['b', 'a'],
  ].map(([path, origin], id) => ({ id, path: fromText(path!), origin: fromText(origin!), replaces: true }));
  const all = changesOf(['a/x', 'file', undefined], ['d/n', undefined, 'file'], ['e', undefined, 'file']);
  await expect(chosenChanges(all, ['a', 'b', 'c'].map(fromText), own)).rejects.toThrow(
    'directory "d"; choose all of it',
  );
  await expect(chosenChanges(all, ['a', 'b', 'd'].map(fromText), own)).rejects.toThrow(
    'directory "c"; choose all of it',
  );
  expect(await chosenChanges(all, ['a', 'b', 'c', 'd'].map(fromText), own)).toHaveLength(2);
  expect(await chosenChanges(all, [fromText('e')], own)).toHaveLength(1);
});

it('refuses a renamed or replacing directory without excluded entries that the codebase has', async () => {
  const renamed = changesOf(
    ['d', 'directory', undefined],
    ['d/in', 'directory', undefined],
    ['d/in/f', 'file', undefined],
    ['e', undefined, 'directory'],
    ['e/in', undefined, 'directory'],
    ['e/in/f', undefined, 'file'],
    ['e/new.log', undefined, 'file'],
  );
  const own = [{ id: 1, path: fromText('e'), origin: fromText('d'), replaces: false }];
  const leaving = (all: WorkspaceChange[], paths: string[]) =>
    all.map((change) => (paths.includes(change.path) ? { ...change, left: 'excluded' as const } : change));
  const choose = (all: WorkspaceChange[], of: OwnDirectory[]) => chosenChanges(all, [ROOT_PATH], of);
  await expect(choose(leaving(renamed, ['e/in/f', 'e/new.log']), own)).rejects.toThrow(
    'directory "e"; choose all of it',
  );
  // Without a version it is not the sandbox's own: the old path has another directory, with an equal file.
  await expect(choose(leaving(renamed, ['e/new.log']), own)).rejects.toThrow('directory "e"; choose all of it');
  renamed.at(-1)!.now!.version = [2, 0];
  expect(await choose(leaving(renamed, ['e/new.log']), own)).toHaveLength(6);
  const replacing = leaving(changesOf(['r/new', undefined, 'file'], ['r/old', 'file', undefined]), ['r/old']);
  const ofReplacing = [{ id: 1, path: fromText('r'), origin: undefined, replaces: true }];
  await expect(choose(replacing, ofReplacing)).rejects.toThrow('directory "r"; choose all of it');
});

it('refuses a change in a scratch directory that was renamed or replaces one', async () => {
  const scratch = (all: WorkspaceChange[], ...paths: string[]) =>
    all.map((change) => (paths.includes(change.path) ? { ...change, left: 'scratch' as const } : change));
  const own = (origin: string | undefined, replaces: boolean) => [
    { id: 1, path: fromText('d'), origin: origin === undefined ? undefined : fromText(origin), replaces },
  ];
  const replaced = scratch(changesOf(['d/keep', undefined, 'directory'], ['d/old', 'file', undefined]), 'd/old');
  const refusal = '"d" is a scratch directory that the sandbox renamed or replaced';
  await expect(chosenChanges(replaced, [ROOT_PATH], own(undefined, true))).rejects.toThrow(refusal);
  expect(await chosenChanges(replaced, [ROOT_PATH], [])).toHaveLength(1);
  const renamed = scratch(changesOf(['c', 'directory', undefined], ['d', undefined, 'directory']), 'c', 'd');
  expect(await chosenChanges(renamed, [ROOT_PATH], own('c', false))).toEqual([]);
  const kept = changesOf(['d/keep', undefined, 'directory']);
  await expect(chosenChanges([...renamed, ...kept], [ROOT_PATH], own('c', false))).rejects.toThrow(refusal);
});

it('names an entry that the rules do not let the sandbox write, and of hidden ones only how many there are', async () => {
  const all = changesOf(
    ['a/h', 'directory', undefined],
    ['a/hid', 'file', undefined],
    ['z', undefined, 'directory'],
    ['z/read', undefined, 'file'],
  );
  const hidden = all.map((change) => {
    return change.path.startsWith('a/') ? { ...change, writable: false, hidden: true } : change;
  });
  const refusal = "the sandbox's rules hide entries (2) in directories that it renamed or removed";
  await expect(chosenChanges(hidden, [ROOT_PATH], [])).rejects.toThrow(refusal);
  await expect(chosenChanges(hidden, ['a/h', 'a/hid'].map(fromText), [])).rejects.toThrow(refusal);
  const both = hidden.map((change) => (change.path === 'z/read' ? { ...change, writable: false } : change));
  await expect(chosenChanges(both, [ROOT_PATH], [])).rejects.toThrow('do not let it write "z/read"');
});

it('reads each chosen path a few times, however many changes there are', async () => {
  const all = Array.from({ length: 500 }, (_, index) => changesOf([`d${index}/f`, undefined, 'file'])).flat();
  let reads = 0;
  const get = (paths: ByteString[], name: string | symbol): unknown => {
    if (typeof name === 'string' && /^\d/.test(name)) reads++;
    return Reflect.get(paths, name);
  };
  const chosen = new Proxy(
    all.map(({ path }) => path),
    { get },
  );
  expect(await chosenChanges(all, chosen, [])).toEqual(all);
  expect(reads).toBeLessThanOrEqual(3 * all.length);
});
