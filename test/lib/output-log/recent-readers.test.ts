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

it('a wait from an offset on is not for readers before it', async () => {
  const readers = new RecentReaders(() => 0);
  readers.read(0, 50);
  await readers.passed(100, 60_000, 51);
  expect(readers.before(100, 50)).toBe(true);
});
