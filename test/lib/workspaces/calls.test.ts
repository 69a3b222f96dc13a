import { expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { WRITE } from '../../../lib/permissions/index.ts';
import { callsThrough, TRAITS } from '../../../lib/workspaces/calls.ts';
import type { ChangePage } from '../../../lib/workspaces/workspaces.ts';

const SPEC = { id: 'sb', codebaseId: 'cb', base: '/b', delta: '/d', uid: 1, rules: [], maxBytes: 0, maxFiles: 0 };
const STAGE = { commit: 'c', stage: 0, paths: [], revertPaths: [], resumed: false };

it('each method calls the operation of its name with its arguments', async () => {
  const called: unknown[] = [];
  const calls = callsThrough(async (operation, args) => {
    called.push([operation, ...args]);
    return undefined as never;
  });
  await calls.revert('sb', [fromText('a')]);
  await calls.usage('sb');
  await calls.files('sb', 'agent', 'stat', fromText('a'));
  expect(called).toEqual([
    ['revert', 'sb', ['a']],
    ['usage', 'sb'],
    ['files', 'sb', 'agent', 'stat', ['a']],
  ]);
});

it('operations for the main thread only are not methods', () => {
  const names = Object.keys(callsThrough(() => new Promise(() => {})));
  expect(names).toContain('files');
  for (const internal of ['attach', 'detach', 'trim', 'copied', 'syncAll']) expect(names).not.toContain(internal);
});

it('arguments of a wrong type, and operations of the worker only, do not compile', () => {
  const calls = callsThrough(() => new Promise(() => {}));
  // @ts-expect-error: paths are a list.
  void calls.revert('sb', 'a');
  // @ts-expect-error: called by the main thread itself only.
  void calls.copied;
  // @ts-expect-error: `stat` takes a path.
  void calls.files('sb', 'agent', 'stat', 1);
});

it('pages of changes that arrive in parts are joined, and only the first one writes mapped pages back', () => {
  const page = (path: string, more: boolean): ChangePage => ({
    changes: [
      { path: fromText(path), kind: 'deleted', contentChanged: true, conflict: false, level: WRITE, writable: true },
    ],
    more,
  });
  const joined = TRAITS.changes.join!([page('a', true), page('b', false)]);
  expect([joined.changes.map(({ path }) => path), joined.more]).toEqual([['a', 'b'], false]);
  expect([TRAITS.changes.writeBack!('sb', ROOT_PATH, 1), TRAITS.changes.writeBack!('sb', fromText('a'), 1)]).toEqual([
    true,
    false,
  ]);
});

it('a workspace that need not be attached is named by the id in its spec', () => {
  expect(TRAITS.rebase.unattached!(SPEC, STAGE)).toBe('sb');
  expect(TRAITS.rebase.trims!(SPEC, STAGE)).toBe('sb');
  expect(TRAITS.preserveRemoved.unattached!(SPEC, [])).toBe('sb');
});
