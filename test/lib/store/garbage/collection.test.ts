import { describe, expect, it } from 'vitest';
import { BulkWriting } from '../../../../lib/store/bulk-writing.ts';
import { Collection, type Garbage } from '../../../../lib/store/garbage/collection.ts';
import type { Roots } from '../../../../lib/store/garbage/roots.ts';
import { SEAL_AT } from '../../../../lib/store/limits.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import { hexOf } from '../../../../lib/store/packs/record.ts';
import type { DirectoryObject } from '../../../../lib/trees/format/directory-object.ts';
import { encodeObject } from '../../../../lib/trees/format/encode-object.ts';
import type { DirectoryEntry } from '../../../../lib/trees/format/entry.ts';
import { type Key, placeKey } from '../../../../lib/trees/format/keys.ts';
import { SimulatedDisk } from '../../disk/simulated-disk.ts';
import { withEntry } from '../../trees/edit.ts';
import { keyOfBytes } from '../../trees/memory.ts';
import { directoryEntry, fileEntry } from '../../trees/random.ts';
import { FOLDER, largeBytes, newStore, packFiles, reopened, version } from '../stores.ts';
import { NO_PLACES, putTree, putVersion, readVersion, rootsOf } from './stored-trees.ts';

const SEAL = { ...SEAL_AT, objects: 4 };
const text = (n: number): string => `text ${n}`;
const files = (from: number, to: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`d/f${from + n}`, text(from + n)]));

function setUp(): { disk: SimulatedDisk; store: ObjectStore } {
  const disk = new SimulatedDisk();
  return { disk, store: newStore(disk, SEAL) };
}

function run<R>(steps: Generator<void, R, void>, between: (step: number) => void = () => {}): R {
  for (let step = 0; ; step++) {
    const { value, done } = steps.next();
    if (done) return value;
    between(step);
  }
}

function collect(disk: SimulatedDisk, store: ObjectStore, roots: Roots): Garbage {
  const collection = new Collection(store, disk, () => roots);
  const garbage = run(collection.steps());
  collection.remove(garbage);
  return garbage;
}

const has = (store: ObjectStore, key: Key): boolean => store.find(key) !== undefined;
const hasText = (store: ObjectStore, n: number): boolean => has(store, keyOfBytes(text(n)));

describe('a garbage collection', () => {
  it('leaves all that kept versions name, and takes what only others do', () => {
    const { disk, store } = setUp();
    const old = putVersion(store, 1, files(0, 12));
    const kept = putVersion(store, 2, files(20, 40));
    const head = putVersion(store, 3, { ...files(30, 40), large: largeBytes(1).toString('latin1') });
    collect(disk, store, rootsOf({ 'version 2': kept, 'version 3': head }));
    expect(readVersion(store, kept)).toEqual(files(20, 40));
    expect(Object.keys(readVersion(store, head))).toHaveLength(11);
    expect(has(store, old)).toBe(false);
    expect(hasText(store, 0)).toBe(false);
    expect(readVersion(reopened(disk.killed(), SEAL), kept)).toEqual(files(20, 40));
  });

  it('copies what lives in packs of which less than half does, and leaves others alone', () => {
    const { disk, store } = setUp();
    putVersion(store, 1, files(0, 40));
    const head = putVersion(store, 2, { 'd/f5': text(5), ...files(50, 70) });
    const before = store.packs().length;
    const { packs, copied } = collect(disk, store, rootsOf({ head }));
    expect(packs.length).toBeGreaterThan(5);
    expect(copied).toBeGreaterThan(0);
    expect(store.packs().length).toBeLessThan(before);
    expect(readVersion(store, head)).toEqual({ 'd/f5': text(5), ...files(50, 70) });
    expect(collect(disk, store, rootsOf({ head })).packs).toEqual([]);
  });

  it.each(['stays', 'goes'])('keeps an object that is damaged in one of two packs: the one that %s', (which) => {
    const { disk, store } = setUp();
    const bulk = new BulkWriting(disk, FOLDER);
    const contents = [1, 2, 3].map((n) => ({ key: bulk.putContents(Buffer.from(text(n))), name: 'contents' }));
    bulk.putVersion(version(9));
    bulk.sync();
    const [stays] = bulk.packs;
    putVersion(store, 1, { a: text(7), b: text(8) });
    const writing = store.begin();
    const key = writing.putVersion(version(9));
    writing.adopt(bulk);
    writing.sync();
    writing.end();
    putVersion(store, 2, files(20, 25));
    const pack = store.packs().find(({ name }) => {
      return store.pack(name)!.find(key) !== undefined && (name === stays) === (which === 'stays');
    })!.name;
    const { offset } = [...store.pack(pack)!.records()].find((record) => record.key === key)!;
    disk.file(`${FOLDER}/packs/${pack}.pack`).contents[offset]! ^= 1;
    const { packs } = collect(disk, store, rootsOf({ head: key }, { contents }));
    expect(packs).not.toContain(stays);
    expect(packs.length).toBeGreaterThan(0);
    expect(store.version(key)).toEqual(version(9));
  });

  it('whose roots are not known does not begin, and nothing is noted for it any more', () => {
    const { disk, store } = setUp();
    const { uses } = store;
    const ended: boolean[] = [];
    store.uses = () => {
      const begun = uses.call(store);
      return { ...begun, end: () => ended.push(true) && begun.end() };
    };
    const roots = () => {
      throw new Error('a sandbox is not known');
    };
    expect(() => new Collection(store, disk, roots)).toThrow('a sandbox is not known');
    expect(ended).toEqual([true]);
  });

  it('removes files of large contents that nothing names', () => {
    const { disk, store } = setUp();
    const writing = store.begin();
    const [gone, stays] = [writing.putContents(largeBytes(1)), writing.putContents(largeBytes(2))];
    writing.sync();
    writing.end();
    const head = putVersion(store, 1, { a: '1' });
    const roots = rootsOf({ head }, { contents: [{ key: stays, name: 'an open file' }] });
    expect(collect(disk, store, roots).blobs).toEqual([gone]);
    expect([...store.blobs()]).toEqual([stays]);
  });

  it('keeps what sandboxes name in their own directories', () => {
    const { disk, store } = setUp();
    const writing = store.begin();
    const tree = putTree(store, writing, files(0, 8));
    const contents = writing.putContents(Buffer.from('in a file of the sandbox'));
    writing.sync();
    writing.end();
    const place = placeKey({ store: 9n, segment: 1, offset: 0, length: 1, crc: 0 });
    const own = encodeObject(0, [
      { ...directoryEntry('a'), ...tree, name: 'a' } as never,
      fileEntry('b', '24 chars of that sandbox', { key: contents }),
    ]);
    const places = { load: (key: Key): DirectoryObject => (key === place ? own : NO_PLACES.load(key)) };
    const roots = rootsOf({}, { directories: [{ key: place, name: 'a sandbox' }], places });
    collect(disk, store, roots);
    expect([has(store, tree.key), hasText(store, 7), has(store, contents)]).toEqual([true, true, true]);
    putVersion(store, 1, files(40, 44));
    collect(disk, store, rootsOf({}));
    expect(hasText(store, 7)).toBe(false);
  });

  it('keeps the trees that a commit gave to its sandbox', () => {
    const { disk, store } = setUp();
    const writing = store.begin();
    const trees = [files(0, 8), files(10, 18), files(20, 28), files(30, 38)].map((each) =>
      putTree(store, writing, each),
    );
    const [root, baseAfter, mineAfter, mineBefore] = trees as [
      DirectoryEntry,
      DirectoryEntry,
      DirectoryEntry,
      DirectoryEntry,
    ];
    const commit = { sandboxId: 's', id: Buffer.alloc(16), mineBefore, mineAfter, baseAfter };
    const head = writing.putVersion(version(1, { kind: 'commit', root, commit }));
    writing.sync();
    writing.end();
    collect(disk, store, rootsOf({ head }));
    expect([7, 17, 27, 37].map((n) => hasText(store, n))).toEqual([true, true, true, true]);
  });

  it('walks a directory also if a file has the same bytes', () => {
    const { disk, store } = setUp();
    const writing = store.begin();
    const tree = putTree(store, writing, { f: text(3) });
    const { bytes } = store.load(tree.key);
    const file = fileEntry('', '', { key: writing.putContents(bytes), size: bytes.length });
    const both = withEntry(store, writing, withEntry(store, writing, directoryEntry(''), 'a', file), 'b', tree);
    writing.sync();
    writing.end();
    putVersion(store, 1, files(40, 44));
    collect(disk, store, rootsOf({}, { directories: [{ key: both.key, name: 'both' }] }));
    expect(hasText(store, 3)).toBe(true);
  });
});

describe('what happens during a garbage collection', () => {
  it('is kept, whenever it is written or found', () => {
    for (let at = 0; ; at++) {
      const { disk, store } = setUp();
      putVersion(store, 1, files(0, 12));
      const head = putVersion(store, 2, files(20, 30));
      const collection = new Collection(store, disk, () => rootsOf({ head }));
      let next: Key | undefined;
      const garbage = run(collection.steps(), (step) => {
        if (step === at) next = putVersion(store, 3, { ...files(2, 6), ...files(40, 44) });
      });
      if (next === undefined) break;
      collection.remove(garbage);
      expect(readVersion(store, next)).toEqual({ ...files(2, 6), ...files(40, 44) });
      expect(readVersion(reopened(disk.killed(), SEAL), next)).toEqual({ ...files(2, 6), ...files(40, 44) });
      collect(disk, store, rootsOf({ next }));
      expect(readVersion(store, next)).toEqual({ ...files(2, 6), ...files(40, 44) });
    }
  });

  it('is kept if it was found before it began, by a writing that has not ended', () => {
    const { disk, store } = setUp();
    putVersion(store, 1, files(0, 12));
    const writing = store.begin();
    const key = writing.putContents(Buffer.from(text(3)));
    collect(disk, store, rootsOf({}));
    expect(has(store, key)).toBe(true);
    writing.end();
    putVersion(store, 2, files(40, 44));
    collect(disk, store, rootsOf({}));
    expect(has(store, key)).toBe(false);
  });

  it('is kept if it is pinned, until it is decided what goes', () => {
    let early = 0;
    for (let at = 0; ; at++) {
      const { disk, store } = setUp();
      const old = putVersion(store, 1, files(0, 12));
      const head = putVersion(store, 2, files(20, 30));
      const collection = new Collection(store, disk, () => rootsOf({ head }));
      let kept: boolean | undefined;
      const garbage = run(collection.steps(), (step) => {
        if (step === at) kept = collection.keep(rootsOf({ old }));
      });
      if (kept === undefined) break;
      collection.remove(garbage);
      if (kept) expect(readVersion(store, old)).toEqual(files(0, 12));
      if (kept) early++;
    }
    expect(early).toBeGreaterThan(5);
  });

  it('reads on: what was condemned is there until it is removed', () => {
    const { disk, store } = setUp();
    const old = putVersion(store, 1, files(0, 12));
    const head = putVersion(store, 2, files(20, 30));
    const collection = new Collection(store, disk, () => rootsOf({ head }));
    const garbage = run(collection.steps(), () => readVersion(store, old));
    expect(readVersion(store, old)).toEqual(files(0, 12));
    collection.remove(garbage);
    expect(has(store, old)).toBe(false);
  });
});

describe('a garbage collection of a store in which a live object is missing', () => {
  const gone = keyOfBytes('gone');
  const [file, folder] = [fileEntry('', 'gone'), { ...directoryEntry(''), key: gone, size: 1 }];
  const one = { ...directoryEntry('').totals!, files: 1 };

  it.each([
    ['contents', file, 'version 2 at "d/x"'],
    ['a directory', { ...folder, totals: one }, 'version 2 at "d/x"'],
  ])('removes nothing and names it: %s', (_, entry, where) => {
    const { disk, store } = setUp();
    putVersion(store, 1, files(0, 12));
    const writing = store.begin();
    const root = withEntry(store, writing, putTree(store, writing, files(20, 30)), 'd/x', entry) as DirectoryEntry;
    const head = writing.putVersion(version(2, { root }));
    writing.sync();
    writing.end();
    const before = packFiles(disk);
    const collection = new Collection(store, disk, () => rootsOf({ 'version 2': head }));
    const message = `${hexOf(gone)} is missing; it is named by ${where}; nothing was removed as garbage`;
    expect(() => run(collection.steps())).toThrow(message);
    expect(packFiles(disk)).toEqual(before);
  });

  it('removes nothing if the version of a root is missing', () => {
    const { disk, store } = setUp();
    putVersion(store, 1, files(0, 12));
    const collection = new Collection(store, disk, () => rootsOf({ 'tag v1': gone }));
    expect(() => run(collection.steps())).toThrow('is missing; it is named by tag v1; nothing was removed');
  });
});
