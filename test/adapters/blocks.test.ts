import { expect, it } from 'vitest';
import { Blocks } from '../../adapters/received/blocks.ts';

it.each([1, 100, 8192, 8193, 65_536, 200_000])('keeps %i bytes, added in pieces of any size', (size) => {
  const bytes = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
  for (const piece of [7, 5000, 65_536, 100_000]) {
    const blocks = new Blocks();
    for (let at = 0; at < size; at += piece) blocks.add(bytes.subarray(at, at + piece), size);
    expect(blocks.size).toBe(size);
    expect(blocks.take(Buffer.of(9)).equals(Buffer.concat([Buffer.of(9), bytes]))).toBe(true);
    expect([blocks.size, blocks.held]).toEqual([0, 0]);
  }
});

it('a long message is put together in several turns of the event loop', async () => {
  const blocks = new Blocks();
  for (let index = 0; index < 256; index++) blocks.add(Buffer.alloc(65_536, index));
  let turns = 0;
  let isTaken = false;
  const count = () => {
    turns++;
    if (!isTaken) setImmediate(count);
  };
  setImmediate(count);
  const whole = await blocks.takeInTurns();
  isTaken = true;
  expect(turns).toBeGreaterThan(2);
  expect(whole.equals(Buffer.concat(Array.from({ length: 256 }, (_, index) => Buffer.alloc(65_536, index))))).toBe(
    true,
  );
  expect([blocks.size, blocks.held]).toEqual([0, 0]);
});

it('what is dropped gives its memory back to the system at once, and is used again', () => {
  const piece = Buffer.alloc(65_536, 1);
  const fill = (count: number) => {
    const blocks = new Blocks();
    for (let index = 0; index < count; index++) blocks.add(piece);
    return blocks;
  };
  const large = fill(2000);
  const { held } = large;
  // Nothing else of this process comes or goes within the call.
  const before = process.memoryUsage.rss();
  large.drop();
  const given = before - process.memoryUsage.rss();
  expect(held).toBe(2000 * piece.length);
  // All but the 2 MiB that are kept for the next message; helper threads may have taken a little.
  expect(given).toBeGreaterThan(0.9 * held);
  expect(fill(2).take().equals(Buffer.alloc(131_072, 1))).toBe(true);
});

it.each([0, 1, 65_536, 70_000, 5_000_000])(
  'joins %i bytes for another thread, a megabyte in each turn',
  async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, index) => index % 251));
    const blocks = new Blocks();
    blocks.add(bytes);
    let turns = 0;
    const next = async () => void turns++;
    const whole = await blocks.takeShared({ next });
    expect(whole.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(Buffer.from(whole.buffer).equals(bytes)).toBe(true);
    expect([blocks.size, blocks.held, turns]).toEqual([0, 0, Math.floor(size / 1_048_576)]);
  },
);
