import { expect, it } from 'vitest';
import { fromText } from '../../../../lib/byte-string.ts';
import { decideForCodebase } from '../../../../lib/sandboxes/changes/given-up.ts';
import type { OwnDirectory } from '../../../../lib/workspaces/workspaces.ts';
import { changesOf } from './changes-of.ts';

const renamed = (path: string, origin: string): OwnDirectory => ({
  id: 1,
  path: fromText(path),
  origin: fromText(origin),
  replaces: false,
});
const decide = (changes: ReturnType<typeof changesOf>, own: OwnDirectory[] = []) => {
  const { taken, givenUp } = decideForCodebase(changes, own);
  return { taken: taken.map(({ path }) => path), givenUp };
};

it('commits everything except the conflicts', () => {
  const changes = changesOf(['a', 'file', 'file', 'conflict'], ['b', 'file', undefined], ['n', undefined, 'file']);
  expect(decide(changes)).toEqual({ taken: ['b', 'n'], givenUp: ['a'] });
});

it('gives up the link in the place of a directory with an entry in conflict, and every removal in that directory', () => {
  const changes = changesOf(
    ['a', 'directory', 'link'],
    ['a.b', 'file', undefined],
    ['a/b', 'file', undefined],
    ['a/d', 'directory', undefined],
    ['a/d/s', 'file', undefined, 'conflict'],
    ['a0', undefined, 'file'],
  );
  expect(decide(changes)).toEqual({ taken: ['a.b', 'a0'], givenUp: ['a'] });
});

it('gives up what is in a directory that takes the place of a file in conflict', () => {
  const changes = changesOf(
    ['s', 'file', 'directory', 'conflict'],
    ['s/a', undefined, 'directory'],
    ['s/a/f', undefined, 'file'],
    ['t', undefined, 'file'],
  );
  expect(decide(changes)).toEqual({ taken: ['t'], givenUp: ['s'] });
});

it('takes the removal of what is in a directory, which stays for the entry in conflict', () => {
  const changes = changesOf(
    ['d', 'directory', undefined],
    ['d/x', 'file', undefined, 'conflict'],
    ['d/y', 'file', undefined],
  );
  expect(decide(changes)).toEqual({ taken: ['d/y'], givenUp: ['d'] });
});

it('gives up the old place of a renamed file whose new place is given up, and keeps that of another', () => {
  const changes = changesOf(
    ['f', 'file', undefined],
    ['g', 'file', undefined],
    ['n', 'file', 'file', 'conflict'],
    ['o', undefined, 'file'],
  );
  changes[2] = { ...changes[2]!, movedFrom: fromText('f') };
  changes[3] = { ...changes[3]!, movedFrom: fromText('g') };
  expect(decide(changes)).toEqual({ taken: ['g', 'o'], givenUp: ['f', 'n'] });
});

it('gives up the old place of a renamed directory whose new place is given up, and so on from place to place', () => {
  const changes = changesOf(
    ['a', 'directory', undefined],
    ['a/f', 'file', undefined],
    ['b', 'directory', 'directory'],
    ['b/f', undefined, 'file'],
    ['b/g', 'file', undefined],
    ['s', 'file', 'directory', 'conflict'],
    ['s/g', undefined, 'file'],
  );
  expect(decide(changes, [renamed('s', 'b'), renamed('b', 'a')])).toEqual({ taken: [], givenUp: ['a', 'b', 's'] });
});
