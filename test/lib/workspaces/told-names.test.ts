import { expect, it } from 'vitest';
import type { ToldChanges } from '../../../lib/workspaces/watching/told-changes.ts';
import type { FileOperation } from '../../../lib/workspaces/workspace-files.ts';
import { ALL_WRITE, rule, Sandbox } from './sandbox.ts';

const HIDDEN = [...ALL_WRITE, rule('/d/secret*', 'NONE', 9)];

/** What is told of `d` once its watchers have been looked up, when `act` happens before that. */
function toldAfter(
  act: (call: (operation: FileOperation, ...args: unknown[]) => unknown, s: Sandbox) => void,
): string[] {
  const told: ToldChanges[] = [];
  const base = { 'd/f': '1', 'd/secret': '2', 'd/secret-2': '3' };
  const s = new Sandbox(base, {}, { tell: (changes) => told.push(changes) });
  s.lookup('d');
  s.fs.setRules(s.spec.id, HIDDEN);
  act((operation, ...args) => s.fs.files(s.spec.id, 'owner', operation, args), s);
  s.fs.requestEnded();
  const ruled = told.flatMap((each) => each.ruled);
  s.fs.toldNames(s.spec.id, ruled);
  s.fs.requestEnded();
  return told.flatMap(({ changes }) => changes.map(({ kind, name }) => `${kind} ${name}`));
}

it('names that new rules hide are told to be gone', () => {
  expect(toldAfter(() => undefined).toSorted()).toEqual(['gone secret', 'gone secret-2']);
});

it('a name that is made after the rules that hide it is not told', () => {
  expect(toldAfter((call) => call('move', 'd/f', 'd/secret-3', {})).toSorted()).toEqual([
    'gone f',
    'gone secret',
    'gone secret-2',
  ]);
});

it('a name that new rules hide is told to be gone, although it is removed before its watchers are known', () => {
  expect(toldAfter((call) => call('remove', 'd/secret', {})).toSorted()).toEqual(['gone secret', 'gone secret-2']);
});
