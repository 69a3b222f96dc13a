import { expect, it } from 'vitest';
import { RecentReaders } from '../../../lib/output-log/recent-readers.ts';

it('a reader counts from its last read, for a second', () => {
  let now = 0;
  const readers = new RecentReaders(() => now);
  expect(readers.before(10)).toBe(false);
  readers.read(0, 10);
  expect(readers.before(10)).toBe(false);
  expect(readers.before(11)).toBe(true);
  now = 999;
  expect(readers.before(11)).toBe(true);
  readers.read(10, 20);
  expect(readers.before(20)).toBe(false);
  now = 1998;
  expect(readers.before(21)).toBe(true);
  now = 1999;
  expect(readers.before(21)).toBe(false);
});

it('of two readers at one place, the one that goes on does not take the other along', () => {
  const readers = new RecentReaders(() => 0);
  readers.read(0, 10);
  readers.read(0, 10);
  readers.read(10, 20);
  expect(readers.before(20)).toBe(true);
  readers.read(10, 20);
  expect(readers.before(20)).toBe(false);
});

it('a wait ends when the last reader has passed, or with its time', async () => {
  const readers = new RecentReaders(() => 0);
  await readers.passed(100, 60_000);
  readers.read(0, 50);
  readers.read(0, 60);
  let passed = false;
  const waiting = readers.passed(70, 60_000).then(() => {
    passed = true;
  });
  readers.read(50, 70);
  await Promise.resolve();
  expect(passed).toBe(false);
  readers.read(60, 80);
  await waiting;
  await readers.passed(90, 1);
});

it('a wait may be for those readers only that have just read', async () => {
  let now = 0;
  const readers = new RecentReaders(() => now);
  readers.read(0, 50);
  now = 20;
  await readers.passed(100, 60_000, 10);
  expect(readers.before(100, 10)).toBe(false);
  expect(readers.before(100, 30)).toBe(true);
});

it('a reader that is always too late is waited for no more, until it has reached the end', async () => {
  const readers = new RecentReaders(() => 0);
  readers.read(0, 10);
  for (let part = 1; part <= 8; part++) {
    expect(readers.before(100 * part)).toBe(true);
    await readers.dropped(100 * part, 1);
    readers.read(100 * part - 90, 100 * part + 10);
  }
  expect(readers.before(1000)).toBe(false);
  // It would never end otherwise.
  await readers.dropped(1000, 2_000_000_000);
  readers.read(810, 2000, 2500);
  expect(readers.before(2400)).toBe(false);
  readers.read(2000, 2500, 2500);
  expect(readers.before(2600)).toBe(true);
});

it('a reader that was always too late is waited for once in a while, and again if it has become fast', async () => {
  let now = 0;
  const readers = new RecentReaders(() => now);
  let at = 0;
  const readTo = (next: number) => {
    readers.read(at, next);
    at = next;
  };
  readTo(10);
  for (let part = 1; part <= 8; part++) await readers.dropped(100 * part, 2);
  for (const [time, isWaitedFor] of [
    [79, false],
    [80, true],
    [159, false],
    [160, true],
  ] as const) {
    now = time;
    let waited = true;
    const dropping = readers.dropped(900, 2).then(() => {
      waited = false;
    });
    for (let tick = 0; tick < 5; tick++) await Promise.resolve();
    expect([time, waited]).toEqual([time, isWaitedFor]);
    await dropping;
  }
  expect(readers.before(900)).toBe(false);
  now = 240;
  const dropping = readers.dropped(900, 60_000);
  readTo(900);
  await dropping;
  expect(readers.before(1000)).toBe(true);
});

it('a reader that is late at times goes on to be waited for', async () => {
  const readers = new RecentReaders(() => 0);
  readers.read(0, 10);
  for (let part = 1; part <= 20; part++) {
    expect(readers.before(100 * part)).toBe(true);
    const dropping = readers.dropped(100 * part, part % 4 === 0 ? 60_000 : 1);
    if (part % 4 !== 0) await dropping;
    readers.read(100 * part - 90, 100 * part + 10);
    await dropping;
  }
});
