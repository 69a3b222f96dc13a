import { describe, expect, it } from 'vitest';
import { BulkWriting } from '../../../lib/store/bulk-writing.ts';
import { DamagedObject } from '../../../lib/store/damaged-object.ts';
import { SEAL_AT } from '../../../lib/store/limits.ts';
import type { ObjectStore } from '../../../lib/store/object-store.ts';
import type { Writing } from '../../../lib/store/writing.ts';
import { FormatError } from '../../../lib/trees/format/format-error.ts';
import type { Key } from '../../../lib/trees/format/keys.ts';
import { SimulatedDisk, Stopped } from '../disk/simulated-disk.ts';
import { keyOfBytes } from '../trees/memory.ts';
import { seeded } from '../trees/random.ts';
import { directory, FOLDER, largeBytes, newStore, reopened } from './stores.ts';

/** Small, so that packs are sealed on the way. */
const SEAL = { ...SEAL_AT, objects: 4 };
const DATA = '/data';

const text = (n: number | string): Buffer => Buffer.from(`text ${n}`);
const ALL = [
  ...Array.from({ length: 20 }, (_, n) => text(n)),
  text('bulk'),
  directory('a', 'b').bytes,
  ...[1, 2, 3].map(largeBytes),
];

/** What is put on the way, and what was answered after a sync. */
class Played {
  readonly disk: SimulatedDisk;
  readonly put: ReadonlyMap<Key, Buffer> = new Map(ALL.map((bytes) => [keyOfBytes(bytes), bytes]));
  readonly answered = new Set<Key>();
  store: ObjectStore | undefined;
  readonly failures: unknown[] = [];

  constructor(disk: SimulatedDisk) {
    this.disk = disk;
  }

  /** A group of objects; one that fails is given up, and what follows goes on. */
  group(write: (writing: Writing, note: (key: Key, bytes: Buffer) => Key) => void): void {
    const keys: Key[] = [];
    const note = (key: Key, bytes: Buffer): Key => {
      if (this.put.get(key)?.equals(bytes) !== true) throw new Error('another key');
      keys.push(key);
      return key;
    };
    const writing = this.store!.begin();
    this.attempt(() => {
      write(writing, note);
      writing.sync();
      for (const key of keys) this.answered.add(key);
    });
    writing.end();
  }

  attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof Stopped) throw error;
      this.failures.push(error);
    }
  }
}

/** Everything that a store does to its disk. */
function play(played: Played): void {
  const { disk } = played;
  played.store = newStore(disk, SEAL);
  const texts = (from: number, to: number) => (writing: Writing, note: (key: Key, bytes: Buffer) => Key) => {
    for (let n = from; n < to; n++) note(writing.putContents(text(n)), text(n));
  };
  played.group(texts(0, 3));
  played.group((writing, note) => {
    texts(2, 5)(writing, note);
    const object = directory('a', 'b');
    note(writing.put(object), object.bytes);
    note(writing.putContents(largeBytes(1)), largeBytes(1));
  });
  played.group((writing, note) => {
    note(writing.putFile(`${DATA}/file`).key, largeBytes(2));
    note(writing.putContents(largeBytes(1)), largeBytes(1));
  });
  played.attempt(() => {
    const bulk = new BulkWriting(disk, FOLDER);
    const keys = [bulk.putContents(text('bulk')), bulk.putContents(largeBytes(3))] as const;
    bulk.sync();
    played.group((writing, note) => {
      writing.adopt(bulk);
      note(keys[0], text('bulk'));
      note(keys[1], largeBytes(3));
    });
  });
  played.group(texts(5, 14));
  played.attempt(() => {
    for (const _ of played.store!.mergeIndexes());
  });
  collect(played);
  played.group(texts(0, 20));
}

/** Moves what is live out of the first pack, which then goes. */
function collect(played: Played): void {
  const { store } = played;
  const pack = store!.packs()[0];
  if (!pack?.sealed) return;
  const records = [...store!.pack(pack.name)!.records()];
  store!.condemn([pack.name], []);
  const before = played.failures.length;
  played.group((writing, note) => {
    for (const { key, length } of records) {
      const bytes = store!.bytes(key, length);
      note(writing.putContents(bytes), bytes);
    }
  });
  if (played.failures.length === before) played.attempt(() => store!.remove([pack.name], []));
}

function newDisk(): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir(DATA);
  const fd = disk.open(`${DATA}/file`, 'create');
  disk.pwrite(fd, largeBytes(2), 0);
  disk.close(fd);
  disk.syncFolder('/');
  disk.syncFolder(DATA);
  return disk;
}

const CALLS = (() => {
  const disk = newDisk();
  const before = disk.calls;
  const played = new Played(disk);
  play(played);
  expect(played.failures).toEqual([]);
  return { from: before, to: disk.calls };
})();

/** What was answered is there, and nothing else is served for it. */
function check(store: ObjectStore, { put, answered }: Played): void {
  for (const [key, bytes] of put) {
    try {
      if (!store.bytes(key, bytes.length).equals(bytes)) throw new Error('other bytes');
    } catch (error) {
      if (!(error instanceof DamagedObject) || answered.has(key)) throw error;
    }
  }
}

/** Also that it can be written to, and lasts. */
function checkAfter(disk: SimulatedDisk, played: Played, crashes = 1): void {
  if (played.store === undefined) {
    // It was never answered that there is a store: there is none, or a whole one.
    try {
      reopened(disk, SEAL);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      newStore(disk, SEAL);
    }
    disk.syncFolder('/');
  }
  const store = reopened(disk, SEAL);
  check(store, played);
  const writing = store.begin();
  for (const bytes of played.put.values()) writing.putContents(bytes);
  writing.sync();
  for (const key of played.put.keys()) played.answered.add(key);
  check(store, played);
  for (let seed = 0; seed < crashes; seed++) check(reopened(disk.crashed(seeded(seed)), SEAL), played);
}

function stoppedAt(at: number): Played {
  const played = new Played(newDisk());
  played.disk.fault = { at, with: 'stop' };
  expect(() => play(played)).toThrow(Stopped);
  return played;
}

describe('what a sync has answered is there, and nothing damaged is served', () => {
  it('after the end of the process at each call', () => {
    for (let at = CALLS.from; at < CALLS.to; at++) {
      const played = stoppedAt(at);
      checkAfter(played.disk.killed(), played, 4);
    }
  });

  it('after a loss of power at each call, whatever was not synced is lost', () => {
    for (let at = CALLS.from; at < CALLS.to; at++) {
      const played = stoppedAt(at);
      const answered = [...played.answered];
      for (let seed = 0; seed < 4; seed++) {
        played.answered.clear();
        for (const key of answered) played.answered.add(key);
        checkAfter(played.disk.crashed(seeded(at * 100 + seed)), played);
      }
    }
  });

  it.each(['EIO', 'ENOSPC'])('after %s at each call, and in the process that goes on', (code) => {
    for (let at = CALLS.from; at < CALLS.to; at++) {
      const played = new Played(newDisk());
      played.disk.fault = { at, with: code };
      try {
        play(played);
      } catch (error) {
        if (played.store !== undefined) throw error;
        continue;
      }
      check(played.store!, played);
      check(reopened(played.disk.crashed(seeded(at)), SEAL), played);
      checkAfter(played.disk.killed(), played);
    }
  });

  it('on a disk that is full, and again when it is not', () => {
    for (let room = 300; room < 400_000; room = Math.ceil(room * 1.2)) {
      const played = new Played(newDisk());
      played.disk.room = room;
      try {
        play(played);
      } catch (error) {
        if (played.store !== undefined) throw error;
        continue;
      }
      check(played.store!, played);
      played.disk.room = Number.POSITIVE_INFINITY;
      played.group((writing) => {
        for (const bytes of played.put.values()) writing.putContents(bytes);
      });
      checkAfter(played.disk.crashed(seeded(room)), played);
    }
  });
});

describe('a store that is being made', () => {
  it('is none or a whole one, whatever a loss of power leaves', () => {
    const whole = new SimulatedDisk();
    newStore(whole);
    for (let at = 0; at < whole.calls; at++) {
      const disk = new SimulatedDisk();
      disk.fault = { at, with: 'stop' };
      expect(() => newStore(disk)).toThrow(Stopped);
      for (let seed = 0; seed < 30; seed++) {
        const left = disk.crashed(seeded(at * 100 + seed));
        try {
          expect(reopened(left).number).toBe(7n);
        } catch (error) {
          if (!(error instanceof FormatError)) throw error;
        }
      }
    }
  });
});

describe('writings at the same time', () => {
  const text1 = text(1);

  it('fail all, if one of them loses what is not synced', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const [first, second] = [store.begin(), store.begin()];
    const key = first.putContents(text1);
    second.putContents(text(2));
    disk.fault = { at: disk.calls + 1, with: 'EIO' };
    expect(() => second.sync()).toThrow('EIO');
    expect(() => store.bytes(key, text1.length)).toThrow('is missing');
    expect(() => first.sync()).toThrow('objects that were written at the same time were lost: write them again');
    const third = store.begin();
    third.putContents(text1);
    third.sync();
    expect(
      reopened(disk.crashed(seeded(1)))
        .bytes(key, text1.length)
        .equals(text1),
    ).toBe(true);
  });

  it('do not hear of what was lost before they began', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const first = store.begin();
    first.putContents(text1);
    disk.fault = { at: disk.calls + 1, with: 'EIO' };
    expect(() => first.sync()).toThrow('EIO');
    const second = store.begin();
    second.putContents(text(2));
    expect(() => second.sync()).not.toThrow();
    expect(() => first.sync()).toThrow('were lost');
  });

  it('go on in another pack after a failed sync, with all that was synced before', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const first = store.begin();
    const key = first.putContents(text1);
    first.sync();
    const second = store.begin();
    second.putContents(text(2));
    disk.fault = { at: disk.calls + 1, with: 'EIO' };
    expect(() => second.sync()).toThrow('EIO');
    const third = store.begin();
    third.putContents(text(3));
    third.sync();
    expect(store.packs().map(({ objects }) => objects)).toEqual([1, 1]);
    expect(
      reopened(disk.crashed(seeded(1)))
        .bytes(key, text1.length)
        .equals(text1),
    ).toBe(true);
  });

  it('leave no large contents under a name that could not be synced', () => {
    const disk = new SimulatedDisk();
    const store = newStore(disk);
    const [first, second] = [store.begin(), store.begin()];
    const key = first.putContents(largeBytes(1));
    disk.fault = { at: disk.calls, with: 'EIO' };
    expect(() => second.sync()).toThrow('EIO');
    expect([...store.blobs()]).toEqual([]);
    expect(() => first.sync()).toThrow('were lost');
    const third = store.begin();
    third.putContents(largeBytes(1));
    third.sync();
    const { length } = largeBytes(1);
    expect(
      reopened(disk.crashed(seeded(1)))
        .bytes(key, length)
        .equals(largeBytes(1)),
    ).toBe(true);
  });
});
