import { describe, expect, it } from 'vitest';
import { type ByteString, fromText } from '../../../lib/byte-string.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { S_IFDIR, S_IFREG } from '../../../lib/linux/mode.ts';
import { Listing } from '../../../lib/workspaces/nodes/listing.ts';
import { longestArrayIn } from './longest-array.ts';
import { count } from './stepping.ts';

const MANY = 10_000;
const NAMES = Array.from({ length: MANY }, (_, number) => fromText(`name-${number}`));
const namesAfter = (listing: Listing, cookie = 0): ByteString[] => [...listing.after(cookie)].map(({ name }) => name);

function filled(): Listing {
  const listing = new Listing();
  for (const name of NAMES) listing.add(name, S_IFREG);
  return listing;
}

it('continues after each cookie with the names that were not removed, in the same order', () => {
  const listing = filled();
  const cookies = [...listing.values()].filter((_, n) => n % 500 === 499).map(({ cookie }) => cookie);
  for (const keep of [3, 100, 2000]) {
    for (const [n, name] of NAMES.entries()) if (n % keep !== 0) listing.remove(name);
    const expected = NAMES.filter((_, n) => [3, 100, 2000].every((each) => each > keep || n % each === 0));
    expect(namesAfter(listing)).toEqual(expected);
    for (const [at, cookie] of cookies.entries()) {
      expect(namesAfter(listing, cookie)).toEqual(
        expected.filter((name) => Number(name.slice('name-'.length)) >= (at + 1) * 500),
      );
    }
    expect(listing.size).toBe(expected.length);
  }
  listing.add(fromText('last'), S_IFDIR);
  expect(namesAfter(listing).at(-1)).toBe('last');
  expect(listing.subdirs).toBe(1);
});

it('is empty after all names were removed, and takes others', () => {
  const listing = filled();
  for (const name of [...NAMES].reverse()) listing.remove(name);
  expect([listing.size, namesAfter(listing)]).toEqual([0, []]);
  listing.add(NAMES[0]!, S_IFREG);
  expect([listing.size, namesAfter(listing)]).toEqual([1, [NAMES[0]]]);
});

describe('a listing that replaces another one', () => {
  const cookies = (listing: Listing) => new Map([...listing.values()].map(({ name, cookie }) => [name, cookie]));

  /** The names that the other one still has, in another order, and new ones. */
  function next(former: Listing, round: number): Listing {
    const listing = new Listing(former);
    for (const name of [...former.names()].reverse()) listing.add(name, S_IFDIR);
    for (let n = 0; n < 100; n++) listing.add(fromText(`new-${round}-${n}`), S_IFREG);
    return listing;
  }

  it('keeps the cookies of the names that stay, and has larger ones for others', () => {
    let listing = filled();
    let expected = [...NAMES];
    for (let round = 1; round < 4; round++) {
      expected = expected.filter((name, n) => {
        if (n % 3 === 0) listing.remove(name);
        return n % 3 !== 0;
      });
      const former = listing;
      const before = cookies(former);
      const last = Math.max(...before.values());
      listing = next(former, round);
      expect(listing.subdirs).toBe(expected.length);
      complete(listing.keepCookies(former));
      expect(namesAfter(listing).slice(0, expected.length)).toEqual(expected);
      for (const [name, cookie] of cookies(listing)) {
        if (before.has(name)) expect(cookie).toBe(before.get(name));
        else expect(cookie).toBeGreaterThan(last);
      }
      expect(namesAfter(listing, last).length).toBe(100);
      expect([listing.size, listing.subdirs]).toEqual([cookies(listing).size, expected.length]);
      expected = namesAfter(listing);
    }
    for (const name of expected) listing.remove(name);
    expect([listing.size, listing.subdirs, namesAfter(listing)]).toEqual([0, 0, []]);
  });

  it('is made in steps, of which none copies all names', () => {
    const former = filled();
    const listing = next(former, 0);
    let steps = 0;
    expect(longestArrayIn(() => (steps = count(listing.keepCookies(former))))).toBe(4096);
    expect(steps).toBeGreaterThan((2 * MANY) / 65);
  });
});

it('has many names in parts', () => {
  expect(longestArrayIn(filled)).toBe(4096);
});
