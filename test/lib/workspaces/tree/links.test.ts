import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { findEntry } from '../../../../lib/trees/directory/find-entry.ts';
import { placeOf, slotKey } from '../../../../lib/trees/format/keys.ts';
import { setAttributes } from '../../../../lib/workspaces/tree/changes/contents.ts';
import { move } from '../../../../lib/workspaces/tree/changes/move.ts';
import { drop, link, put } from '../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../lib/workspaces/tree/changes/thaw.ts';
import { freeze } from '../../../../lib/workspaces/tree/freeze.ts';
import { entryOf } from '../../../../lib/workspaces/tree/items.ts';
import { fileEntry } from '../../trees/random.ts';
import { flatOf } from './flat.ts';
import { at, type Live, liveTree, TIME } from './live.ts';
import { MemoryJournal } from './memory-journal.ts';

const name = (live: Live, path: string) => {
  const [dir, name] = at(live.tree, path);
  return { dir, name };
};
const frozen = (live: Live) => freeze(live.tree, live.memory.placed, () => new MemoryJournal(), false);
const rename = (live: Live, from: string, to: string) =>
  move(live.tree, name(live, from), name(live, to), 'replace', TIME);
const linked = (live: Live, from: string, to: string) =>
  link(live.tree, thaw(live.tree, ...at(live.tree, from)), ...at(live.tree, to), TIME);

function chmod(live: Live, path: string, mode: number): void {
  const file = thaw(live.tree, ...at(live.tree, path));
  const { mtime, mtimeNs, atime, owner } = file.entry;
  setAttributes(live.tree, file, { mode, mtime, mtimeNs, ctime: 7, ctimeNs: 0, atime, owner });
}

function modes(live: Live): Record<string, string> {
  const files = [...flatOf(live.tree)].filter(([, { nlink }]) => nlink > 1);
  return Object.fromEntries(files.map(([path, { mode, nlink }]) => [path, `${mode.toString(8)} ${nlink}`]));
}

describe('a file with several names in a frozen tree', () => {
  it('takes its bytes once of what the sandbox may store, as before it was frozen', () => {
    const live = liveTree(['a/', 'b/']);
    const key = slotKey({ store: 7n, class: 0, slot: 1, sequence: 1, birth: 1, crc: 0 });
    put(live.tree, ...at(live.tree, 'a/file'), { ...fileEntry('', 'x'.repeat(1200), { ino: 90 }), key }, TIME);
    for (const other of ['a/2', 'b/3', 'b/4']) linked(live, 'a/file', other);
    expect(live.tree.totals).toMatchObject({ files: 4, bytes: 4800, ownBytes: 1200 });
    frozen(live);
    const keys = ['a', 'b'].map((each) => findEntry(live.memory, live.tree.frozen.key, fromLatin1(each))!.key);
    const objects = keys.reduce((bytes, each) => bytes + placeOf(each)!.length, 0);
    expect(live.tree.totals).toMatchObject({ files: 4, bytes: 4800, ownBytes: 1200 + objects });
    const before = live.tree.totals.ownBytes;
    drop(live.tree, ...at(live.tree, 'b/3'), TIME);
    expect(live.tree.totals).toMatchObject({ files: 3, bytes: 3600, ownBytes: before });
  });

  it('changes at all of them', () => {
    const live = liveTree(['a/file', 'b/']);
    linked(live, 'a/file', 'b/other');
    linked(live, 'a/file', 'third');
    frozen(live);
    chmod(live, 'b/other', 0o600);
    expect(modes(live)).toEqual({ 'a/file': '600 3', 'b/other': '600 3', third: '600 3' });
  });

  it('changes at all of them after their directories have moved', () => {
    const live = liveTree(['a/x/file', 'b/']);
    linked(live, 'a/x/file', 'b/other');
    frozen(live);
    chmod(live, 'b/other', 0o600);
    frozen(live);
    rename(live, 'a', 'c');
    rename(live, 'c/x', 'b/x');
    chmod(live, 'b/other', 0o640);
    expect(modes(live)).toEqual({ 'b/x/file': '640 2', 'b/other': '640 2' });
  });

  it('changes at all of them if it was linked after others were looked for', () => {
    const live = liveTree(['a', 'b', 'd/']);
    linked(live, 'a', 'd/a');
    frozen(live);
    chmod(live, 'd/a', 0o600);
    linked(live, 'b', 'd/b');
    frozen(live);
    chmod(live, 'd/b', 0o640);
    expect(modes(live)).toEqual({ a: '600 2', 'd/a': '600 2', b: '640 2', 'd/b': '640 2' });
  });

  it('has one name less everywhere when one goes, also by a rename over it', () => {
    const live = liveTree(['a', 'd/', 'e']);
    linked(live, 'a', 'd/a');
    linked(live, 'a', 'd/b');
    frozen(live);
    drop(live.tree, ...at(live.tree, 'd/a'), TIME);
    frozen(live);
    rename(live, 'e', 'd/b');
    expect(entryOf(live.tree.lookup(live.tree.root, fromLatin1('a'))!).nlink).toBe(1);
  });

  it('moves with the directory that another of its names is in', () => {
    const live = liveTree(['d/file', 'other']);
    linked(live, 'd/file', 'name');
    frozen(live);
    move(live.tree, name(live, 'd'), name(live, 'name'), 'exchange', TIME);
    expect(modes(live)).toEqual({ d: '644 2', 'name/file': '644 2' });
    expect(flatOf(live.tree).get('name/file')?.ctime).toBe(TIME.s);
  });
});
