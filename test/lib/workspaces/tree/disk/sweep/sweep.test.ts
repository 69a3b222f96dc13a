import { describe, expect, it } from 'vitest';
import { AbsentObject } from '../../../../../../lib/trees/directory/source.ts';
import type { Entry } from '../../../../../../lib/trees/format/entry.ts';
import { type Key, NO_KEY, placeKey, placeOf, slotKey } from '../../../../../../lib/trees/format/keys.ts';
import { Bits } from '../../../../../../lib/workspaces/delta/contents/bits.ts';
import { directoriesIn } from '../../../../../../lib/workspaces/tree/disk/sweep/directories-in.ts';
import {
  type Candidates,
  type Garbage,
  type KeptTrees,
  sweep,
} from '../../../../../../lib/workspaces/tree/disk/sweep/sweep.ts';
import { directoryEntry, type Random, seeded } from '../../../../trees/random.ts';
import { contentsOf, OWN, World } from './world.ts';

const CLASSES = [0, 1, 2];

interface Played {
  readonly world: World;
  readonly present: Entry;
  readonly kept: readonly Entry[];
}

/** A tree with a history, of which some states are kept. */
function played(random: Random): Played {
  const world = new World(random);
  let present = random(3) === 0 ? world.wide() : directoryEntry('w');
  const kept: Entry[] = [];
  for (let changes = 60; changes > 0; changes--) {
    present = world.changed(present);
    if (random(15) === 0) kept.push(present);
    if (random(25) === 0) kept.shift();
  }
  return { world, present, kept };
}

function trees(mine: Entry, base: Key = NO_KEY, slabMaps: Key = NO_KEY): KeptTrees {
  return { mine: mine.key, base, slabMaps };
}

/** All that there is. */
function everything(world: World): Candidates {
  const slots = new Map(CLASSES.map((size) => [size, new Bits()]));
  const files: number[] = [];
  for (let n = 1; n <= world.contents; n++) {
    slots.get(n % 3)!.add(n);
    files.push(n);
  }
  return { segments: world.sizes, slots, files, open: [] };
}

function run<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function textsOf({ segments, slots, files }: Pick<Garbage, 'segments' | 'slots' | 'files'>): Set<string> {
  const ofSlots = [...slots].flatMap(([size, each]) => each.map((slot) => `slot ${size} ${slot}`));
  return new Set([...segments.map((n) => `segment ${n}`), ...ofSlots, ...files.map((n) => `file ${n}`)]);
}

describe('a sweep', () => {
  it('finds what neither the present tree nor a kept one names, and nothing else', () => {
    for (let seed = 1; seed <= 15; seed++) {
      const { world, present, kept } = played(seeded(seed));
      const base = kept[0]?.key;
      const all = everything(world);
      const garbage = run(
        sweep(
          world,
          OWN,
          trees(present, base),
          kept.map((each) => trees(each)),
          all,
        ),
      );
      const named = [present, ...kept].map(({ key }) => world.namesOf(key));
      const every = textsOf({
        segments: [...world.sizes.keys()],
        slots: new Map([...all.slots].map(([size, used]) => [size, [...new Bits().missing(used)]])),
        files: [...all.files],
      });
      for (const names of named) for (const name of names) every.delete(name);
      expect(textsOf(garbage)).toEqual(every);
    }
  });

  it('leaves what is no candidate, what open files have, and the map of slabs', () => {
    const { world, present } = played(seeded(2));
    const slot = slotKey({ store: OWN, class: 1, slot: 9000, sequence: 1, birth: 1, crc: 0 });
    const maps = placeKey({ store: OWN, segment: 900, offset: 0, length: 1, crc: 0 });
    const used = new Bits();
    for (const each of [9000, 9001]) used.add(each);
    const candidates = {
      segments: new Map([900, 901].map((segment) => [segment, 100])),
      slots: new Map([[1, used]]),
      files: [],
      open: [slot],
    };
    const garbage = run(sweep(world, OWN, trees(present, NO_KEY, maps), [], candidates));
    expect(textsOf(garbage)).toEqual(new Set(['segment 901', 'slot 1 9001']));
    expect(contentsOf(slot)).toBe('slot 1 9000');
  });

  it('frees nothing if an object is missing', () => {
    const { world, present } = played(seeded(3));
    const missing = { ...present, key: placeKey({ ...placeOf(present.key)!, offset: 1e6 }) };
    expect(() => run(sweep(world, OWN, trees(present), [trees(missing)], everything(world)))).toThrow(AbsentObject);
  });

  it('names sparse segments, and the directories that are to be written anew', () => {
    let found = 0;
    for (let seed = 1; seed <= 15; seed++) {
      const { world, present, kept } = played(seeded(seed));
      const { sparse } = run(
        sweep(
          world,
          OWN,
          trees(present),
          kept.map((each) => trees(each)),
          everything(world),
        ),
      );
      const ofKept = new Set(kept.flatMap(({ key }) => [...world.namesOf(key)]));
      expect(sparse.filter((segment) => ofKept.has(`segment ${segment}`))).toEqual([]);
      for (const segment of sparse) {
        const paths = run(directoriesIn(world, OWN, present.key, new Set([segment])));
        expect(paths.length).toBeGreaterThan(0);
        found++;
      }
    }
    expect(found).toBeGreaterThan(0);
  });
});
