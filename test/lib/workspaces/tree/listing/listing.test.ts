import { describe, expect, it } from 'vitest';
import { fromLatin1 } from '../../../../../lib/byte-string.ts';
import { drop, put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import type { Directory } from '../../../../../lib/workspaces/tree/items.ts';
import { Listing } from '../../../../../lib/workspaces/tree/listing/listing.ts';
import { fileEntry, type Random, seeded } from '../../../trees/random.ts';
import { at, type Live, liveTree, TIME } from '../live.ts';
import { MemoryJournal } from '../memory-journal.ts';

const directoryOf = ({ tree }: Live): Directory => tree.lookup(tree.root, fromLatin1('d')) as Directory;

function read(live: Live, listing: Listing, cookie: number, most: number): { names: string[]; cookie: number } {
  const names: string[] = [];
  let last = cookie;
  for (const listed of listing.after(directoryOf(live), cookie)) {
    if (names.length === most) break;
    names.push(listed.name);
    last = listed.cookie;
  }
  return { names, cookie: last };
}

const name = (n: number) => `n${String(n).padStart(4, '0')}`;
const large = (count: number) => Array.from({ length: count }, (_, n) => `d/${name(n * 2)}`);
const make = ({ tree }: Live, n: number) =>
  put(tree, ...at(tree, `d/${name(n)}`), fileEntry('', '', { ino: 9000 + n }), TIME);
const remove = ({ tree }: Live, n: number) => drop(tree, ...at(tree, `d/${name(n)}`), TIME);

/** One of what may happen to a directory between two reads. */
function disturb(live: Live, random: Random, count: number): void {
  for (let times = random(5); times > 0; times--) {
    const n = random(2 * count);
    const there = live.tree.lookup(directoryOf(live), fromLatin1(name(n))) !== undefined;
    if (there) remove(live, n);
    else make(live, n);
  }
  if (random(3) === 0) freeze(live.tree, live.memory.placed, () => new MemoryJournal(), false);
}

describe('the listing of a directory', () => {
  it.each([0, 1, 20, 700])('has its names in order, each one once, of %i', (count) => {
    const live = liveTree(count === 0 ? ['d/'] : large(count));
    const listing = new Listing(live.memory);
    const names: string[] = [];
    for (let cookie = 0, part = read(live, listing, 0, 7); part.names.length > 0; ) {
      names.push(...part.names);
      cookie = part.cookie;
      part = read(live, listing, cookie, 7);
    }
    expect(names).toEqual(large(count).map((path) => path.slice(2)));
  });

  it.each([2 ** 32, 2 ** 32 + 1, 2 ** 40 + 2])('begins anew at a number that is no cookie of it: %i', (cookie) => {
    const live = liveTree(large(5));
    expect(read(live, new Listing(live.memory), cookie, 2).names).toEqual([name(0), name(2)]);
  });

  it.each([
    [5, 60],
    [60, 40],
    [700, 6],
  ])('neither repeats nor omits what stays, while names come and go and the tree is frozen: %i', (count, seeds) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const random = seeded(seed);
      const live = liveTree(large(count));
      const listing = new Listing(live.memory);
      const before = new Set(read(live, listing, 0, Number.POSITIVE_INFINITY).names);
      const had: string[] = [];
      const always = new Set(before);
      for (let part = read(live, listing, 0, 1 + random(count)); part.names.length > 0; ) {
        had.push(...part.names);
        disturb(live, random, count);
        const now = new Set(read(live, listing, 0, Number.POSITIVE_INFINITY).names);
        for (const each of always) if (!now.has(each)) always.delete(each);
        part = read(live, listing, part.cookie, 1 + random(count));
      }
      expect(had, `seed ${seed}`).toEqual([...new Set(had)].sort());
      expect(
        [...always].filter((each) => !had.includes(each)),
        `seed ${seed}`,
      ).toEqual([]);
    }
  });

  it('can be continued from each of its cookies, also an earlier one', () => {
    const live = liveTree(large(30));
    const listing = new Listing(live.memory);
    const all = [...listing.after(directoryOf(live), 0)];
    make(live, 1);
    remove(live, 2);
    for (const [index, { cookie }] of all.entries()) {
      const rest = all.slice(index + 1).filter((listed) => listed.name !== name(2));
      const expected =
        index === 0 ? [name(1), ...rest.map((listed) => listed.name)] : rest.map((listed) => listed.name);
      expect(read(live, listing, cookie, 100).names).toEqual(expected);
    }
  });

  it('goes on at the same place in the present names from a cookie that is too old', () => {
    const live = liveTree(large(30));
    const listing = new Listing(live.memory);
    const { cookie } = read(live, listing, 0, 10);
    for (const n of [41, 43, 45, 47, 49]) {
      make(live, n);
      read(live, listing, 0, 1);
    }
    expect(read(live, listing, cookie, 1).names).toEqual([name(20)]);
  });

  it('ends for a cookie that nobody gave', () => {
    const live = liveTree(large(3));
    expect(read(live, new Listing(live.memory), 2 ** 40 + 77, 9).names).toEqual([]);
  });
});
