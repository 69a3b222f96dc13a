import { describe, expect, it } from 'vitest';
import { Collection } from '../../../../lib/store/garbage/collection.ts';
import { SEAL_AT } from '../../../../lib/store/limits.ts';
import type { ObjectStore } from '../../../../lib/store/object-store.ts';
import type { Key } from '../../../../lib/trees/format/keys.ts';
import { SimulatedDisk, Stopped } from '../../disk/simulated-disk.ts';
import { type Random, seeded } from '../../trees/random.ts';
import { largeBytes, newStore, reopened } from '../stores.ts';
import { putVersion, readVersion, rootsOf } from './stored-trees.ts';

const SEAL = { ...SEAL_AT, objects: 5 };
const ROUNDS = 2;

/** A codebase with a few versions: writers, versions that are dropped, and garbage collections between and beside them. */
class Codebase {
  readonly kept = new Map<Key, Record<string, string>>();
  store: ObjectStore | undefined;
  failures = 0;
  readonly #disk: SimulatedDisk;
  readonly #random: Random;
  #number = 1;

  constructor(disk: SimulatedDisk, random: Random) {
    this.#disk = disk;
    this.#random = random;
  }

  play(): void {
    this.store = newStore(this.#disk, SEAL);
    for (let round = 0; round < ROUNDS; round++) {
      for (let times = 0; times < 2; times++) this.#attempt(() => this.#write());
      this.#drop();
      this.#attempt(() => this.collect());
    }
  }

  collect(): void {
    const collection = new Collection(this.store!, this.#disk, () => this.#roots());
    const steps = collection.steps();
    for (;;) {
      const { value, done } = steps.next();
      if (done) {
        if (this.#random(3) === 0) this.#write();
        collection.remove(value);
        return;
      }
      if (this.#random(12) === 0) this.#attempt(() => this.#write());
      if (this.#random(12) === 0) this.#drop();
    }
  }

  #roots() {
    return rootsOf(Object.fromEntries([...this.kept.keys()].map((key, n) => [`version ${n}`, key])));
  }

  /** Files that older versions have, too, and others. */
  #write(): void {
    const files: Record<string, string> = {};
    for (let times = 1 + this.#random(4); times > 0; times--) {
      const n = this.#random(8);
      files[`${'ab'[n % 2]}/${n}`] = this.#random(12)
        ? `text ${n} ${this.#random(3)}`
        : largeBytes(n).toString('latin1');
    }
    this.kept.set(putVersion(this.store!, this.#number++, files), files);
  }

  /** All but the newest may go. */
  #drop(): void {
    for (const key of [...this.kept.keys()].slice(0, -1)) if (this.#random(2)) this.kept.delete(key);
  }

  #attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof Stopped) throw error;
      this.failures++;
    }
  }
}

function expectKept(store: ObjectStore, { kept }: Codebase): void {
  for (const [key, files] of kept) expect(readVersion(store, key)).toEqual(files);
}

/** The number of calls that the whole takes. */
function callsOf(seed: number): number {
  const disk = new SimulatedDisk();
  const codebase = new Codebase(disk, seeded(seed));
  codebase.play();
  expect(codebase.failures).toBe(0);
  expectKept(codebase.store!, codebase);
  return disk.calls;
}

/** Not if the last call is the one: names of packs are random, and so is their order, by which there may be a call less. */
function isStopped(codebase: Codebase): boolean {
  try {
    codebase.play();
    return false;
  } catch (error) {
    if (error instanceof Stopped) return true;
    throw error;
  }
}

/** After the process, another one goes on. */
function expectAfter(disk: SimulatedDisk, codebase: Codebase): void {
  if (codebase.store === undefined) return;
  const store = reopened(disk, SEAL);
  expectKept(store, codebase);
  const next = new Codebase(disk, seeded(1));
  next.store = store;
  for (const [key, files] of codebase.kept) next.kept.set(key, files);
  next.collect();
  expectKept(store, next);
  expectKept(reopened(disk.crashed(seeded(2)), SEAL), next);
}

describe('everything that kept versions name is there', () => {
  it('after the end of the process or a loss of power at each call', () => {
    const seed = 1;
    const calls = callsOf(seed);
    let stopped = 0;
    for (let at = 0; at < calls; at++) {
      const disk = new SimulatedDisk();
      const codebase = new Codebase(disk, seeded(seed));
      disk.fault = { at, with: 'stop' };
      stopped += isStopped(codebase) ? 1 : 0;
      expectAfter(disk.killed(), codebase);
      expectAfter(disk.crashed(seeded(at)), codebase);
    }
    expect(stopped).toBeGreaterThan(calls * 0.9);
  });

  it('after EIO or ENOSPC at each call', () => {
    const seed = 2;
    const calls = callsOf(seed);
    for (let at = 0; at < calls; at++) {
      const disk = new SimulatedDisk();
      const codebase = new Codebase(disk, seeded(seed));
      disk.fault = { at, with: at % 2 ? 'EIO' : 'ENOSPC' };
      try {
        codebase.play();
      } catch (error) {
        if (codebase.store !== undefined) throw error;
        continue;
      }
      expectKept(codebase.store!, codebase);
      expectAfter(disk.crashed(seeded(at)), codebase);
    }
  });
});
