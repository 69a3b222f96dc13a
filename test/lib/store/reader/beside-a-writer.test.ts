import { describe, expect, it } from 'vitest';
import { Cache } from '../../../../lib/store/cache.ts';
import { Collection } from '../../../../lib/store/garbage/collection.ts';
import { SEAL_AT } from '../../../../lib/store/limits.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../../lib/store/open-files.ts';
import { StoreReader } from '../../../../lib/store/reader/store-reader.ts';
import type { Key } from '../../../../lib/trees/format/keys.ts';
import { SimulatedDisk } from '../../disk/simulated-disk.ts';
import { type Random, seeded } from '../../trees/random.ts';
import { putVersion, readVersion, rootsOf } from '../garbage/stored-trees.ts';
import { FOLDER, largeBytes, newStore, packFiles, reopened } from '../stores.ts';

const SEAL = { ...SEAL_AT, objects: 5 };

function readerOf(disk: SimulatedDisk, descriptors = 4): StoreReader {
  return new StoreReader({ disk, files: new OpenFiles(disk, descriptors), cache: new Cache(1000, 1) }, FOLDER);
}

/** A codebase whose versions a reader in another thread reads, from time to time, or all the time. */
class Beside {
  readonly disk = new SimulatedDisk();
  readonly kept = new Map<Key, Record<string, string>>();
  readonly reader: StoreReader;
  store: ObjectStore;
  reads = 0;
  readonly #random: Random;
  #number = 1;

  constructor(random: Random) {
    this.#random = random;
    this.store = newStore(this.disk, SEAL);
    this.reader = readerOf(this.disk);
  }

  write(): void {
    const files: Record<string, string> = {};
    for (let times = 1 + this.#random(4); times > 0; times--) {
      const n = this.#random(8);
      files[`${'ab'[n % 2]}/${n}`] = this.#random(12)
        ? `text ${n} ${this.#random(5)}`
        : largeBytes(n).toString('latin1');
    }
    this.kept.set(putVersion(this.store, this.#number++, files), files);
  }

  read(chance = 1): void {
    if (this.#random(chance) > 0) return;
    for (const [key, files] of this.kept) expect(readVersion(this.reader, key)).toEqual(files);
    this.reads++;
  }

  collect(): void {
    for (const key of [...this.kept.keys()].slice(0, -1)) if (this.#random(3) > 0) this.kept.delete(key);
    const roots = rootsOf(Object.fromEntries([...this.kept.keys()].map((key, n) => [`version ${n}`, key])));
    const collection = new Collection(this.store, this.disk, () => roots);
    for (const steps = collection.steps(); ; ) {
      const { value, done } = steps.next();
      this.read(20);
      if (!done) continue;
      collection.remove(value);
      return;
    }
  }

  act(): void {
    const choice = this.#random(12);
    if (choice < 7) this.write();
    else if (choice < 9) this.collect();
    else if (choice === 9) for (const _ of this.store.mergeIndexes()) this.read(50);
    else if (choice === 10) this.fail();
    else this.store = reopened(this.disk, SEAL);
  }

  /** A write that the disk refuses, of which a part may be there, and others in its place. */
  fail(): void {
    const writing = this.store.begin();
    this.disk.room = 30 + this.#random(300);
    try {
      for (let n = 0; n < 20; n++) writing.putContents(Buffer.from(`lost ${this.#number} ${n}`));
      writing.sync();
    } catch {
      this.read(2);
    } finally {
      writing.end();
      this.disk.room = Number.POSITIVE_INFINITY;
    }
  }
}

describe('a reader beside a writer', () => {
  it('finds all that kept versions name, under appends, seals, merges, garbage, failures and starts', () => {
    for (let seed = 1; seed <= 6; seed++) {
      const beside = new Beside(seeded(seed));
      for (let acts = 0; acts < 40; acts++) {
        beside.act();
        beside.read(3);
      }
      beside.read();
      expect(beside.reads).toBeGreaterThan(5);
    }
  });

  it('finds the same after its writer was killed, before and after another one went on', () => {
    for (let at = 20; at < 300; at += 29) {
      const beside = new Beside(seeded(at));
      beside.disk.fault = { at: beside.disk.calls + at, with: 'stop' };
      expect(() => {
        for (;;) beside.act();
      }).toThrow();
      const left = beside.disk.killed();
      const reader = readerOf(left);
      const expectKept = () => {
        for (const [key, files] of beside.kept) expect(readVersion(reader, key)).toEqual(files);
      };
      expectKept();
      reopened(left, SEAL);
      expectKept();
    }
  });

  it('finds what the writer moves on while it lists the packs', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = seeded(seed);
      const beside = new Beside(random);
      const readdir = beside.disk.readdir.bind(beside.disk);
      let moves = 0;
      beside.disk.readdir = (path) => {
        const names = readdir(path);
        for (; moves > 0 && random(2) > 0; moves--) beside.write();
        return names;
      };
      for (let round = 0; round < 10; round++) {
        beside.write();
        const [key, files] = [...beside.kept].at(-1)!;
        moves = 6;
        const found = readVersion(readerOf(beside.disk, 1), key);
        moves = 6;
        expect([found, readVersion(beside.reader, key)]).toEqual([files, files]);
      }
    }
  });

  it.each([10, 5000])('finds what stands where something was cut off that it had seen: %i bytes', (length) => {
    const disk = new SimulatedDisk();
    const [store, reader] = [newStore(disk), readerOf(disk)];
    const writing = store.begin();
    const first = writing.putContents(Buffer.from('first'));
    writing.sync();
    const lost = writing.putContents(Buffer.alloc(1000));
    // To be read by others it is written.
    store.contents(lost, 1000);
    expect(reader.bytes(lost, 1000).length).toBe(1000);
    disk.fault = { at: disk.calls, with: 'EIO' };
    expect(() => writing.sync()).toThrow('EIO');
    const next = reopened(disk).begin();
    const key = next.putContents(Buffer.alloc(length, 1));
    next.sync();
    expect(reader.bytes(key, length).length).toBe(length);
    expect(reader.bytes(first, 5).toString()).toBe('first');
    expect(() => reader.bytes(lost, 1000)).toThrow(/is (missing|damaged)/);
  });

  it('holds no more descriptors than it may, and none of what is gone', () => {
    const beside = new Beside(seeded(3));
    for (let n = 0; n < 30; n++) beside.write();
    beside.store.close();
    beside.read();
    expect(beside.disk.openFiles).toBeLessThanOrEqual(4);
    for (const name of packFiles(beside.disk)) beside.disk.unlink(`${FOLDER}/packs/${name}`);
    for (const _ of beside.reader.refresh());
    expect(beside.disk.openFiles).toBe(0);
  });

  it('keeps no more objects than it may', () => {
    const disk = new SimulatedDisk();
    const key = putVersion(
      newStore(disk),
      1,
      Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`d${n}/f`, 'x'])),
    );
    const cache = new Cache<Key, never>(20_000, 1);
    const reader = new StoreReader({ disk, files: new OpenFiles(disk), cache }, FOLDER);
    readVersion(reader, key);
    expect(cache.bytes).toBeLessThanOrEqual(20_000);
  });

  it('changes nothing on the disk', () => {
    const beside = new Beside(seeded(4));
    for (let n = 0; n < 10; n++) beside.write();
    const before = beside.disk.calls;
    beside.read();
    expect(() => beside.reader.version([...beside.kept.keys()][0]!.replace(/.$/, '\0') as Key)).toThrow('is missing');
    expect(beside.disk.calls).toBe(before);
  });
});
