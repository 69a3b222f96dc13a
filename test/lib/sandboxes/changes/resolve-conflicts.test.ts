import { expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../../lib/byte-string.ts';
import { keepingLeft } from '../../../../lib/sandboxes/changes/left-below.ts';
import { resolveForCodebase } from '../../../../lib/sandboxes/changes/resolve-conflicts.ts';
import type { OwnDirectory } from '../../../../lib/workspaces/workspaces.ts';
import { changesOf } from './changes-of.ts';

const renamed = (path: string, origin: string): OwnDirectory => ({
  id: 1,
  path: fromText(path),
  origin: fromText(origin),
  replaces: false,
});
const resolve = (changes: ReturnType<typeof changesOf>, own: OwnDirectory[] = []) => {
  const { committed, reverted } = resolveForCodebase(changes, own);
  return { committed: committed.map(({ path }) => path), reverted };
};

it('commits everything except the conflicts', () => {
  const changes = changesOf(['a', 'file', 'file', 'conflict'], ['b', 'file', undefined], ['n', undefined, 'file']);
  expect(resolve(changes)).toEqual({ committed: ['b', 'n'], reverted: ['a'] });
});

it('reverts the link in the place of a directory with an entry in conflict, and every removal in that directory', () => {
  const changes = changesOf(
    ['a', 'directory', 'link'],
    ['a.b', 'file', undefined],
    ['a/b', 'file', undefined],
    ['a/d', 'directory', undefined],
    ['a/d/s', 'file', undefined, 'conflict'],
    ['a0', undefined, 'file'],
  );
  expect(resolve(changes)).toEqual({ committed: ['a.b', 'a0'], reverted: ['a'] });
});

it('reverts everything in a directory that replaces a file in conflict', () => {
  const changes = changesOf(
    ['s', 'file', 'directory', 'conflict'],
    ['s/a', undefined, 'directory'],
    ['s/a/f', undefined, 'file'],
    ['t', undefined, 'file'],
  );
  expect(resolve(changes)).toEqual({ committed: ['t'], reverted: ['s'] });
});

it('takes the removal of what is in a directory, which stays for the entry in conflict', () => {
  const changes = changesOf(
    ['d', 'directory', undefined],
    ['d/x', 'file', undefined, 'conflict'],
    ['d/y', 'file', undefined],
  );
  expect(resolve(changes)).toEqual({ committed: ['d/y'], reverted: ['d'] });
});

it('reverts the old path of a renamed file whose new path is reverted, and keeps that of another file', () => {
  const changes = changesOf(
    ['f', 'file', undefined],
    ['g', 'file', undefined],
    ['n', 'file', 'file', 'conflict'],
    ['o', undefined, 'file'],
  );
  changes[2] = { ...changes[2]!, movedFrom: fromText('f') };
  changes[3] = { ...changes[3]!, movedFrom: fromText('g') };
  expect(resolve(changes)).toEqual({ committed: ['g', 'o'], reverted: ['f', 'n'] });
});

it('reverts the old path of a renamed directory whose new path is reverted, also over several renames', () => {
  const changes = changesOf(
    ['a', 'directory', undefined],
    ['a/f', 'file', undefined],
    ['b', 'directory', 'directory'],
    ['b/f', undefined, 'file'],
    ['b/g', 'file', undefined],
    ['s', 'file', 'directory', 'conflict'],
    ['s/g', undefined, 'file'],
  );
  expect(resolve(changes, [renamed('s', 'b'), renamed('b', 'a')])).toEqual({
    committed: [],
    reverted: ['a', 'b', 's'],
  });
});

it('does not revert a directory that has entries below that the commit leaves out', async () => {
  const keep = (all: ReturnType<typeof changesOf>, left: string, own: OwnDirectory[] = []) => {
    const resolution = resolveForCodebase(
      all.filter(({ path }) => path !== left),
      own,
    );
    const marked = all.map((change) => (change.path === left ? { ...change, left: 'scratch' as const } : change));
    return keepingLeft(resolution, marked, own, [ROOT_PATH]);
  };
  const attributes = changesOf(
    ['d', 'directory', 'directory', 'conflict'],
    ['d/f', 'file', 'file', 'conflict'],
    ['d/n', undefined, 'file'],
    ['e', 'directory', 'directory', 'conflict'],
  );
  expect((await keep(attributes, 'd/n')).reverted).toEqual(['d/f', 'e']);
  const refusal = 'reverts "d" with everything below, but "d/n" is left out';
  await expect(keep(attributes, 'd/n', [renamed('x', 'd')])).rejects.toThrow(refusal);
  const replaced = changesOf(['d', 'file', 'directory', 'conflict'], ['d/n', undefined, 'file']);
  await expect(keep(replaced, 'd/n')).rejects.toThrow(refusal);
});

it('does not revert a path in a directory that stays removed, because it is not chosen or holds what is left out', async () => {
  const all = changesOf(
    ['q', 'directory', undefined],
    ['q/d', 'directory', undefined, 'conflict'],
    ['q/d/e', 'file', undefined],
  );
  const resolution = resolveForCodebase(all.slice(1), []);
  expect(resolution.reverted).toEqual(['q/d']);
  const refusal = 'reverts "q/d", but "q", which the sandbox removed or replaced, is left out';
  await expect(keepingLeft(resolution, all, [], [fromText('q/d')])).rejects.toThrow(refusal);
  await expect(keepingLeft(resolution, all, [], [ROOT_PATH])).rejects.toThrow(refusal);
  const whole = resolveForCodebase(all, []);
  expect((await keepingLeft(whole, all, [], [ROOT_PATH])).reverted).toEqual(['q']);
});
