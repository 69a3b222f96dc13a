import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ByteString } from '../../../../lib/byte-string.ts';
import { fromLatin1 } from '../../../../lib/byte-string.ts';
import { differences } from '../../../../lib/trees/directory/differences.ts';
import { entriesOf } from '../../../../lib/trees/directory/entries.ts';
import { findEntry } from '../../../../lib/trees/directory/find-entry.ts';
import { nameHash } from '../../../../lib/trees/directory/name-hash.ts';
import { type Listed, patchDirectory } from '../../../../lib/trees/directory/patch-directory.ts';
import { sharing } from '../../../../lib/trees/directory/share.ts';
import { AbsentObject, type Sink } from '../../../../lib/trees/directory/source.ts';
import { encodeObject } from '../../../../lib/trees/format/encode-object.ts';
import type { Entry } from '../../../../lib/trees/format/entry.ts';
import { FormatError } from '../../../../lib/trees/format/format-error.ts';
import { NO_KEY } from '../../../../lib/trees/format/keys.ts';
import { Memory, SEED } from '../memory.ts';
import { fileEntry, type Random, seeded } from '../random.ts';

type Flat = Map<ByteString, Entry>;

describe('a directory with many entries', () => {
  it.each([
    ['names of all sorts', 2500, (n: number) => `file-${n}.ts`],
    // The hash of these ends with seven zeros, so that each object is as small as it can be; or it never is, so that all are full.
    ['names that end objects', 900, ending(true)],
    ['names that end no object', 1500, ending(false)],
    ['few names around the limit', 600, (n: number) => `n${n}`],
  ])('has one form, however it came about: %s', (_, range, nameOf) => {
    const memory = new Memory();
    const random = seeded(range);
    const flat: Flat = new Map();
    let now: Listed = patchDirectory(memory, memory.hashed, NO_KEY, []);
    for (let step = 0; step < 80; step++) {
      const changes = randomChanges(random, flat, range, nameOf, step);
      now = patchDirectory(memory, memory.hashed, now.key, changes);
      apply(flat, changes);
      expect(now).toEqual(patchDirectory(memory, memory.hashed, NO_KEY, all(flat)));
      expect(now.size).toBe(flat.size);
    }
    expect([...entriesOf(memory, now.key)]).toEqual(all(flat).map(([, entry]) => entry));
  });

  it('with 120,000 entries has three levels, and a change writes one object on each', () => {
    const memory = new Memory();
    const flat: Flat = new Map();
    for (let n = 0; n < 120_000; n++) add(flat, fileEntry(`file-${n}`, String(n)));
    const before = patchDirectory(memory, memory.hashed, NO_KEY, all(flat));
    expect(memory.load(before.key).level).toBe(2);
    const objects = memory.objects.size;
    const changed = fileEntry('file-50000', 'other');
    const after = patchDirectory(memory, memory.hashed, before.key, [[changed.name, changed]]);
    expect(memory.objects.size - objects).toBe(3);
    expect(findEntry(memory, after.key, changed.name)).toEqual(changed);
    memory.loads = 0;
    expect([...differences(memory, before.key, after.key)].map(({ name }) => name)).toEqual([changed.name]);
    expect(memory.loads).toBe(6);
  });

  it('is divided well by a secret, whatever names were chosen for another one', () => {
    const other = [1, 2] as const;
    const memory = new Memory();
    const flat: Flat = new Map();
    // Also of one length: a checksum that is linear would differ in the same bits for all of them.
    for (let n = 100_000; flat.size < 20_000; n++) {
      const name = `x${n}`;
      if ([nameHash(other, name), crc32(name)].every((hash) => (hash & 127) !== 0)) add(flat, fileEntry(name, ''));
    }
    const written = (sink: Sink) => {
      const { key } = patchDirectory(memory, sink, NO_KEY, all(flat));
      const objects = memory.objects.size;
      const added = fileEntry('x100000-', '');
      patchDirectory(memory, sink, key, [[added.name, added]]);
      return memory.objects.size - objects;
    };
    expect(written(memory.placed)).toBeLessThanOrEqual(4);
    expect(written({ ...memory.placed, seed: other })).toBeGreaterThan(30);
  });

  it('tells names, entries after a name, and the differences to another directory', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const memory = new Memory();
      const random = seeded(seed);
      const nameOf = (n: number) => `${n % 7}-${n}`;
      const flat: Flat = new Map();
      apply(flat, randomChanges(random, flat, 2000, nameOf, 0));
      const other: Flat = new Map(flat);
      for (let times = random(4); times > 0; times--) apply(other, randomChanges(random, other, 2000, nameOf, times));
      const a = patchDirectory(memory, memory.hashed, NO_KEY, all(flat)).key;
      const b = patchDirectory(memory, memory.placed, NO_KEY, all(other)).key;
      const names = [...new Set([...flat.keys(), ...other.keys()])].sort();
      const expected = names
        .map((name) => ({ name, a: flat.get(name), b: other.get(name) }))
        .filter((each) => each.a?.key !== each.b?.key);
      expect([...differences(memory, a, b)]).toEqual(expected);
      for (const name of names) expect(findEntry(memory, a, name)).toEqual(flat.get(name));
      const from = fromLatin1(nameOf(random(2000)));
      const later = all(flat).filter(([name]) => name > from);
      expect([...entriesOf(memory, a, from)]).toEqual(later.map(([, entry]) => entry));
    }
  });

  it('has the objects of another directory where it is equal to it', () => {
    const memory = new Memory();
    const flat: Flat = new Map();
    for (let n = 0; n < 3000; n++) add(flat, fileEntry(`f${n}`, String(n)));
    const codebase = patchDirectory(memory, memory.hashed, NO_KEY, all(flat));
    const [first, second] = [fileEntry('f1', 'other'), fileEntry('f2000', 'other')];
    const changes = [first, second].map((entry) => [entry.name, entry] as const);
    const own = patchDirectory(memory, memory.placed, codebase.key, changes);
    expect(own.key).not.toBe(codebase.key);
    const sink = sharing(memory, memory.placed, [codebase.key]);
    const objects = memory.objects.size;
    const undone = changes.map(([name]) => [name, flat.get(name)] as const);
    expect(patchDirectory(memory, sink, own.key, undone)).toEqual(codebase);
    expect(memory.objects.size).toBe(objects);
  });
});

describe('an object that is not at hand', () => {
  it('is named by the error, and nothing was written', () => {
    const memory = new Memory();
    const { key } = patchDirectory(memory, memory.hashed, NO_KEY, [[fromLatin1('a'), fileEntry('a', 'x')]]);
    memory.objects.clear();
    const act = () => patchDirectory(memory, memory.hashed, key, [[fromLatin1('b'), fileEntry('b', 'x')]]);
    expect(act).toThrow(AbsentObject);
    expect(act).toThrow('is missing');
    expect(memory.objects.size).toBe(0);
  });
});

describe('an item that names an object of another level', () => {
  it('is refused, so that no search goes in circles', () => {
    const memory = new Memory();
    const leaf = encodeObject(0, [fileEntry('a', 'x')]);
    const item = { name: fromLatin1('a'), key: memory.hashed.put(leaf), count: 1, totals: leaf.totals };
    const root = memory.hashed.put(encodeObject(2, [item]));
    expect(() => findEntry(memory, root, item.name)).toThrow('an item of level 2 names an object of level 0');
    expect(() => [...entriesOf(memory, root)]).toThrow(FormatError);
    expect(() => patchDirectory(memory, memory.hashed, root, [[item.name, undefined]])).toThrow(FormatError);
  });
});

function all(flat: Flat): [ByteString, Entry][] {
  return [...flat].sort(([a], [b]) => (a < b ? -1 : 1));
}

function add(flat: Flat, entry: Entry): void {
  flat.set(entry.name, entry);
}

function apply(flat: Flat, changes: Iterable<readonly [ByteString, Entry | undefined]>): void {
  for (const [name, entry] of changes) {
    if (entry === undefined) flat.delete(name);
    else flat.set(name, entry);
  }
}

/** Some or many names, most of them new at first and most of them removed at the end. */
function randomChanges(
  random: Random,
  flat: Flat,
  range: number,
  nameOf: (n: number) => string,
  step: number,
): [ByteString, Entry | undefined][] {
  const changes = new Map<ByteString, Entry | undefined>();
  const count = random(4) ? 1 + random(4) : random(range);
  for (let times = 0; times < count; times++) {
    const entry = fileEntry(nameOf(random(range)), String(random(1000)));
    if (flat.has(entry.name) ? random(3) > 0 : step % 40 < 20)
      changes.set(entry.name, step % 40 < 20 ? entry : undefined);
  }
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1));
}

function ending(ends: boolean): (n: number) => string {
  const names: string[] = [];
  for (let n = 0; names.length < 1500; n++) {
    if (((nameHash(SEED, `x${n}`) & 127) === 0) === ends) names.push(`x${n}`);
  }
  return (n) => names[n]!;
}
