import { describe, expect, it } from 'vitest';
import { MAX_PACKED } from '../../../lib/store/limits.ts';
import { AbsentObject } from '../../../lib/trees/directory/source.ts';
import { NO_KEY } from '../../../lib/trees/format/keys.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import { keyOfBytes } from '../trees/memory.ts';
import { directory, FOLDER, largeBytes, newStore, packFiles, reopened, version } from './stores.ts';

describe('a store', () => {
  it('names directories, contents and versions by the hash of their bytes', () => {
    const writing = newStore().begin();
    const [object, small, large] = [directory('a', 'b'), Buffer.from('text'), largeBytes(1)];
    expect(writing.put(object)).toBe(keyOfBytes(object.bytes));
    expect(writing.putContents(small)).toBe(keyOfBytes(small));
    expect(writing.putContents(large)).toBe(keyOfBytes(large));
    expect(writing.putContents(Buffer.alloc(0))).toBe(NO_KEY);
  });

  it('gives back what was put before it is synced, after, and when it is opened again', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const writing = store.begin();
    const [object, small, large] = [directory('a', 'b'), Buffer.from('text'), largeBytes(1)];
    const keys = [writing.put(object), writing.putContents(small), writing.putContents(large)] as const;
    const versionKey = writing.putVersion(version(3));
    const expectAll = (from: typeof store): void => {
      expect(from.load(keys[0]).bytes.equals(object.bytes)).toBe(true);
      expect(from.bytes(keys[1], 4).equals(small)).toBe(true);
      expect(from.bytes(keys[2], large.length).equals(large)).toBe(true);
      expect(from.version(versionKey)).toEqual(version(3));
    };
    expectAll(store);
    writing.sync();
    expectAll(store);
    store.close();
    expectAll(reopened(disk));
    expect(reopened(disk).number).toBe(7n);
  });

  it('tells where contents are: within a pack, or in a file of the caller', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const writing = store.begin();
    const read = (bytes: Buffer): [boolean, boolean] => {
      const { fd, offset, length, own } = store.contents(writing.putContents(bytes), bytes.length);
      const found = Buffer.alloc(length);
      disk.pread(fd, found, offset);
      if (own) disk.close(fd);
      return [found.equals(bytes), own];
    };
    expect(read(Buffer.from('text'))).toEqual([true, false]);
    expect(read(Buffer.alloc(MAX_PACKED, 7))).toEqual([true, false]);
    expect(read(largeBytes(1))).toEqual([true, true]);
  });

  it('takes contents piece by piece, as it does at once', () => {
    const store = newStore();
    const writing = store.begin();
    for (const size of [0, 1, MAX_PACKED, MAX_PACKED + 1, 3 * MAX_PACKED]) {
      const bytes = Buffer.alloc(size, size % 251);
      const contents = writing.contents();
      for (let at = 0; at < size; at += 10_000) contents.write(bytes.subarray(at, Math.min(size, at + 10_000)));
      expect(contents.end()).toEqual({ key: writing.putContents(bytes), size });
    }
  });

  it('leaves nothing of contents that are dropped', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const contents = store.begin().contents();
    contents.write(largeBytes(1));
    contents.drop();
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
    expect([...store.blobs()]).toEqual([]);
    expect(disk.openFiles).toBe(0);
  });

  it('makes files of contents that nobody may write to', () => {
    const disk = new SimulatedDisk();
    const key = newStore(disk).begin().putContents(largeBytes(1));
    const name = Buffer.from(key, 'latin1').toString('hex', 1);
    expect(disk.file(`${FOLDER}/blobs/${name.slice(0, 2)}/${name}`).mode).toBe(0o400);
  });

  it('writes what it has once', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const first = store.begin();
    for (const each of [Buffer.from('text'), largeBytes(1)]) first.putContents(each);
    first.put(directory('a'));
    first.sync();
    const before = store.packs();
    const second = store.begin();
    for (const each of [Buffer.from('text'), largeBytes(1)]) second.putContents(each);
    second.put(directory('a'));
    second.sync();
    expect(store.packs()).toEqual(before);
    expect([...store.blobs()]).toHaveLength(1);
    expect(disk.readdir(`${FOLDER}/tmp`)).toEqual([]);
  });

  it('says of an object that it has not: it is missing', () => {
    const store = newStore();
    const key = keyOfBytes('never');
    for (const call of [() => store.load(key), () => store.contents(key, 5), () => store.bytes(key, 100_000)]) {
      expect(call).toThrow(AbsentObject);
      expect(call).toThrow(`the object ${Buffer.from(key, 'latin1').toString('hex', 1)} is missing`);
    }
  });

  it('refuses contents of another size than their entry says', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const writing = store.begin();
    const [small, large] = [writing.putContents(Buffer.from('text')), writing.putContents(largeBytes(1))];
    expect(() => store.contents(small, 5)).toThrow('has 4 bytes: 5 in its entry');
    expect(() => store.contents(large, 70_000)).toThrow('has 65537 bytes: 70000 in its entry');
    expect(() => store.load(small)).toThrow('an object that is no directory');
  });

  it('goes on with the pack of an earlier process', () => {
    const disk = new SimulatedDisk();
    for (const text of ['one', 'two', 'three']) {
      const store = disk.readdir('/').length === 0 ? newStore(disk) : reopened(disk);
      const writing = store.begin();
      writing.putContents(Buffer.from(text));
      writing.sync();
      store.close();
      expect(disk.openFiles).toBe(0);
    }
    expect(packFiles(disk)).toHaveLength(1);
    expect(reopened(disk).packs()).toMatchObject([{ sealed: false, objects: 3 }]);
  });
});

describe('the file of a store', () => {
  const withFile = (text: string): SimulatedDisk => {
    const disk = new SimulatedDisk();
    newStore(disk);
    const fd = disk.open(`${FOLDER}/store.json`, 'write');
    disk.truncate(fd, 0);
    disk.pwrite(fd, Buffer.from(text), 0);
    return disk;
  };

  it.each([
    ['{"format":2,"number":"7"}', '/store/store.json: format 2 is none that this release reads: 1'],
    ['{"number":"7"}', '/store/store.json: format undefined is none that this release reads: 1'],
    ['{"format":1,"number":7}', '/store/store.json: number must be the digits of a number from 1 to 2^64 - 1'],
    ['{"format":1,"number":"18446744073709551616"}', 'number must be the digits'],
    ['{"format":1,"number":"7"}', '/store/store.json: seed must be two numbers from 0 to 2^32 - 1'],
    ['{"format":1,"number":"7","seed":[1,4294967296]}', 'seed must be two numbers'],
    ['[', '/store/store.json is not JSON of a store'],
    ['null', '/store/store.json is not JSON of a store'],
  ])('is refused with the reason, and the store is left as it is: %s', (text, why) => {
    const disk = withFile(text);
    const { calls } = disk;
    expect(() => reopened(disk)).toThrow(why);
    expect(disk.calls).toBe(calls);
  });

  it('keeps the seed of its directories, which no other store has', () => {
    const disk = new SimulatedDisk();
    const { seed } = newStore(disk);
    expect(reopened(disk.killed()).seed).toEqual(seed);
    expect(newStore().seed).not.toEqual(seed);
  });

  it('is missing in a folder that is no store', () => {
    const disk = new SimulatedDisk();
    disk.mkdir(FOLDER);
    expect(() => reopened(disk)).toThrow('/store/store.json is missing: the folder is no store');
  });
});
