import { describe, expect, it, vi } from 'vitest';
import { BulkWriting } from '../../../lib/store/bulk-writing.ts';
import { Collection } from '../../../lib/store/garbage/collection.ts';
import { MAX_PACKED, MAX_PAYLOAD, SEAL_AT } from '../../../lib/store/limits.ts';
import type { ObjectStore } from '../../../lib/store/object-store.ts';
import type { DirectoryObject } from '../../../lib/trees/format/directory-object.ts';
import type { Key } from '../../../lib/trees/format/keys.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import { keyOfBytes } from '../trees/memory.ts';
import { directory, FOLDER, largeBytes, newStore, packFiles, reopened } from './stores.ts';

const textOf = (n: number): Buffer => Buffer.from(`contents ${n}`);

/** Packs that other threads sealed, each with these contents and some that several have. */
function adopted(disk: SimulatedDisk, store: ObjectStore, packs: number, each = 3): Map<Key, Buffer> {
  const all = new Map<Key, Buffer>();
  for (let n = 0; n < packs; n++) {
    const bulk = new BulkWriting(disk, FOLDER);
    const texts = Array.from({ length: each }, (_, index) => textOf(n * each + index));
    for (const text of [...texts, textOf(n % 7)]) all.set(bulk.putContents(text), text);
    bulk.sync();
    const writing = store.begin();
    bulk.end();
    writing.adopt(bulk);
    writing.sync();
    writing.end();
  }
  return all;
}

function expectAll(store: ObjectStore, all: ReadonlyMap<Key, Buffer>): void {
  for (const [key, bytes] of all) {
    if (!store.bytes(key, bytes.length).equals(bytes)) throw new Error('other bytes');
    expect(store.contents(key, bytes.length).length).toBe(bytes.length);
  }
}

describe('packs', () => {
  it('are sealed when they have as many objects as fit, and read as before', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const writing = store.begin();
    const all = new Map(
      Array.from({ length: SEAL_AT.objects + 5 }, (_, n) => [writing.putContents(textOf(n)), textOf(n)]),
    );
    writing.sync();
    expect(store.packs()).toMatchObject([
      { sealed: true, objects: SEAL_AT.objects },
      { sealed: false, objects: 5 },
    ]);
    for (const from of [store, reopened(disk)])
      for (const [key, text] of all) if (!from.bytes(key, text.length).equals(text)) throw new Error('other bytes');
  });

  it('are sealed when they have as many bytes as fit', () => {
    const store = newStore();
    const writing = store.begin();
    for (let n = 0; n < 1030; n++) writing.putContents(largeBytes(n).subarray(0, MAX_PACKED));
    writing.sync();
    expect(store.packs()).toMatchObject([{ sealed: true }, { sealed: false }]);
    expect(store.packs()[0]!.bytes).toBeLessThan(65 * 1024 * 1024);
  });

  it('take no object that could not be read again', () => {
    const store = newStore();
    const writing = store.begin();
    const bytes = Buffer.alloc(MAX_PAYLOAD + 1);
    expect(() => writing.put({ bytes } as DirectoryObject)).toThrow('an object of 4194305 bytes: at most 4194304');
    expect(store.packs()).toMatchObject([{ objects: 0 }]);
  });

  it('come sealed from other threads', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 3);
    expectAll(store, all);
    expectAll(reopened(disk), all);
    expect(packFiles(disk).every((name) => name.endsWith('.pack'))).toBe(true);
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
  });

  it('are read with no more descriptors than the limit, of 200 packs', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 200);
    expectAll(store, all);
    expect(disk.openFiles).toBeLessThanOrEqual(64);
    store.close();
    expect(disk.openFiles).toBe(0);
  });

  it('have one merged index, with the same answers, after a start, too', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 200);
    expect(store.indexes).toBe(200);
    for (const _ of store.mergeIndexes()) expectAll(store, new Map([...all].slice(0, 1)));
    expect(store.indexes).toBe(0);
    for (const [key, bytes] of adopted(disk, store, 2, 5)) all.set(key, bytes);
    expectAll(store, all);
    const again = reopened(disk);
    expect(again.indexes).toBe(2);
    expectAll(again, all);
  });

  it('are merged in steps that read no more than one index', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 4, 5000);
    let read = 0;
    const pread = disk.pread.bind(disk);
    disk.pread = (fd, into, offset) => {
      read += into.length;
      return pread(fd, into, offset);
    };
    const again = reopened(disk);
    read = 0;
    const ofSteps: number[] = [];
    for (const _ of again.mergeIndexes()) {
      ofSteps.push(read);
      read = 0;
    }
    // An index of 5,000 rows has 41 bytes each.
    expect(Math.max(...ofSteps)).toBeLessThan(300_000);
    expectAll(reopened(disk), new Map([...all].slice(0, 100)));
  });

  it('are found without a merged index that is damaged, anywhere', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 10, 1);
    for (const _ of store.mergeIndexes());
    const file = disk.file(`${FOLDER}/packs/${packFiles(disk).find((name) => name.endsWith('.index'))}`);
    // Most of it is an empty fan-out. At the end are the rows.
    const places = Array.from({ length: file.size }, (_, at) => at);
    for (const at of places.filter((at) => at < 300 || at > file.size - 450 || at % 9973 === 0)) {
      file.contents[at]! ^= 0x5a;
      expectAll(reopened(disk), all);
      file.contents[at]! ^= 0x5a;
    }
  });
});

describe('a pack whose index cannot be read', () => {
  it('holds up no other object, and is looked at again', () => {
    const disk = new SimulatedDisk();
    const all = adopted(disk, newStore(disk), 2);
    const store = reopened(disk);
    const pread = disk.pread.bind(disk);
    const broken = vi.spyOn(disk, 'pread').mockImplementation((fd, into, offset) => {
      // Of a look-up they are parts.
      if (into.length > 1024) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return pread(fd, into, offset);
    });
    expect(() => store.bytes(keyOfBytes('none'), 4)).toThrow('is missing');
    broken.mockRestore();
    for (const { name } of store.packs()) {
      const file = disk.file(`${FOLDER}/packs/${name}.pack`);
      file.contents[file.size - 60]! ^= 1;
      file.contents[file.size - 80]! ^= 1;
      file.contents[file.size - 100]! ^= 1;
    }
    expectAll(store, all);
  });
});

describe('condemned packs', () => {
  it('are read, but what is in them is written anew', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 3);
    const [pack, ...others] = store.packs().map(({ name }) => name);
    store.condemn([pack!], []);
    expectAll(store, all);
    const inPack = [...all].filter(([key]) => store.find(key)!.pack === pack);
    const writing = store.begin();
    for (const [, bytes] of all) writing.putContents(bytes);
    writing.sync();
    expect(inPack.length).toBeGreaterThan(0);
    store.remove([pack!], []);
    expectAll(store, all);
    expectAll(reopened(disk), all);
    expect(others.every((name) => store.pack(name) !== undefined)).toBe(true);
  });

  it('are gone after their removal, with the merged index, too', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 10);
    for (const _ of store.mergeIndexes());
    const pack = store.packs()[0]!.name;
    const only = [...store.pack(pack)!.records()].filter(({ key }) => all.get(key)!.toString() > 'contents 6');
    store.condemn([pack], []);
    store.remove([pack], []);
    expect(packFiles(disk)).not.toContain(`${pack}.pack`);
    for (const { key, length } of only) expect(() => store.bytes(key, length)).toThrow('is missing');
    for (const { key } of only) all.delete(key);
    expectAll(store, all);
    expectAll(reopened(disk), all);
  });

  it('are the only ones that can be removed', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const all = adopted(disk, store, 3);
    const writing = store.begin();
    const large = writing.putContents(largeBytes(1));
    writing.sync();
    store.condemn([], [large]);
    store.begin().putContents(largeBytes(1));
    store.remove(
      store.packs().map(({ name }) => name),
      [large],
    );
    expectAll(store, all);
    expect(store.bytes(large, MAX_PACKED + 1).equals(largeBytes(1))).toBe(true);
  });
});

describe('large contents of another thread', () => {
  it('stay, though garbage is collected before they are adopted', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const bulk = new BulkWriting(disk, FOLDER);
    const [key, bytes] = [bulk.putContents(largeBytes(1)), largeBytes(1)];
    bulk.sync();
    const roots = { versions: [], directories: [], contents: [], places: store };
    const collection = new Collection(store, disk, () => roots);
    const steps = collection.steps();
    let step = steps.next();
    while (!step.done) step = steps.next();
    collection.remove(step.value);
    const writing = store.begin();
    writing.adopt(bulk);
    writing.sync();
    expectAll(store, new Map([[key, bytes]]));
    expectAll(reopened(disk.crashed(() => 0)), new Map([[key, bytes]]));
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
  });

  it('are not found by others before they are adopted, as they may be lost', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    new BulkWriting(disk, FOLDER).putContents(largeBytes(1));
    expect([...store.blobs()]).toEqual([]);
  });
});

describe('what another thread writes', () => {
  const filled = (disk: SimulatedDisk): BulkWriting => {
    const bulk = new BulkWriting(disk, FOLDER, { ...SEAL_AT, objects: 3 });
    for (let n = 0; n < 8; n++) bulk.putContents(textOf(n));
    bulk.putContents(largeBytes(1));
    return bulk;
  };

  it.each([true, false])('is gone if it is dropped (after its sync: %s)', (synced) => {
    const disk = new SimulatedDisk();
    newStore(disk).close();
    const bulk = filled(disk);
    expect(packFiles(disk).length).toBe(2);
    if (synced) bulk.sync();
    bulk.drop();
    expect([packFiles(disk), disk.readdir(`${FOLDER}/tmp`)]).toEqual([[], []]);
    expect(disk.openFiles).toBe(0);
  });

  it('holds no descriptor after its end, and is adopted then', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const bulk = filled(disk);
    bulk.sync();
    bulk.end();
    expect(disk.openFiles).toBe(0);
    const writing = store.begin();
    writing.adopt(bulk);
    writing.sync();
    expectAll(store, new Map([textOf(7), largeBytes(1)].map((bytes) => [keyOfBytes(bytes), bytes])));
  });

  it('leaves nothing of it where its large contents cannot be adopted', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const bulk = filled(disk);
    bulk.putContents(largeBytes(2));
    bulk.sync();
    disk.fault = { at: disk.calls + 2, with: 'EIO' };
    expect(() => store.begin().adopt(bulk)).toThrow('EIO');
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
  });

  it('is read there, directories that it put first, too', () => {
    const disk = new SimulatedDisk();
    newStore(disk).close();
    const bulk = filled(disk);
    const keys = ['a', 'b', 'c', 'd', 'e'].map((name) => bulk.put(directory(name)));
    expect(keys.map((key) => bulk.load(key).nameAt(0))).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('what writings use', () => {
  it('is told from the beginning of those that have begun, until they end', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const [first, second] = [store.begin(), store.begin()];
    const keys = [first.putContents(textOf(1)), second.putContents(textOf(2))];
    second.end();
    const uses = store.uses();
    expect(uses.keys).toEqual(new Set([keys[0]]));
    keys.push(first.putContents(largeBytes(1)), store.begin().putContents(textOf(2)));
    expect(uses.keys).toEqual(new Set([keys[0], keys[2], keys[3]]));
    uses.end();
    first.putContents(textOf(4));
    expect(uses.keys.size).toBe(3);
  });

  it('has the packs that they adopted', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const bulk = new BulkWriting(disk, FOLDER);
    bulk.putContents(textOf(1));
    bulk.sync();
    const uses = store.uses();
    store.begin().adopt(bulk);
    expect(uses.packs).toEqual(new Set(bulk.packs));
    expect(store.uses().packs).toEqual(new Set(bulk.packs));
  });
});
