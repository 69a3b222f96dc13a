import { expect, it } from 'vitest';
import { type ByteString, fromText } from '../../../lib/byte-string.ts';
import { S_IFDIR, S_IFREG } from '../../../lib/linux/mode.ts';
import { Listing } from '../../../lib/workspaces/nodes/listing.ts';
import { longestArrayIn } from './longest-array.ts';

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

it('has many names in parts', () => {
  expect(longestArrayIn(filled)).toBe(4096);
});
