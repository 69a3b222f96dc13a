import { expect, it } from 'vitest';
import {
  claim,
  giveBack,
  RECYCLED_BYTES,
  recycledBuffer,
  sharedView,
  unclaimedBuffer,
} from '../../lib/recycled-buffers.ts';

it('a buffer is used again once all its views were given back, each once', () => {
  const buffer = recycledBuffer();
  expect(buffer).toHaveLength(RECYCLED_BYTES);
  const [one, other] = [sharedView(buffer, 0, 10), sharedView(buffer, 5, 20)];
  const part = sharedView(other, 0, 2);
  giveBack(buffer);
  giveBack(one);
  giveBack(one);
  giveBack(one);
  giveBack(other);
  expect(recycledBuffer().buffer).not.toBe(buffer.buffer);
  giveBack(part);
  expect(recycledBuffer().buffer).toBe(buffer.buffer);
});

it('a buffer stays with its user when one of before gives it back once more', () => {
  const before = recycledBuffer();
  giveBack(before);
  const now = recycledBuffer();
  expect(now.buffer).toBe(before.buffer);
  giveBack(before);
  expect(recycledBuffer().buffer).not.toBe(now.buffer);
});

it('other buffers are left alone', () => {
  const own = Buffer.from('own');
  const view = sharedView(own, 1, 3);
  expect(view.toString()).toBe('wn');
  giveBack(view);
  giveBack(own);
  expect(recycledBuffer().buffer).not.toBe(own.buffer);
});

it('a larger buffer is used again once its only user gives back what it has claimed', () => {
  const buffer = unclaimedBuffer(300_000);
  const part = buffer.subarray(5, 90_000);
  giveBack(part);
  expect(unclaimedBuffer(300_000).buffer).not.toBe(buffer.buffer);
  claim(part);
  const late = buffer.subarray(5);
  claim(late);
  giveBack(late);
  expect(unclaimedBuffer(300_000).buffer).not.toBe(buffer.buffer);
  giveBack(part);
  giveBack(part);
  const next = unclaimedBuffer(250_000);
  expect(next.buffer).toBe(buffer.buffer);
  expect(next).toHaveLength(250_000);
  expect(unclaimedBuffer(300_000).buffer).not.toBe(buffer.buffer);
});

it('larger buffers are kept up to 8 MiB, and none that is much larger than asked for', () => {
  const used = Array.from({ length: 12 }, () => unclaimedBuffer(1_000_000));
  for (const each of used) {
    claim(each);
    giveBack(each);
  }
  const memory = new Set(used.map(({ buffer }) => buffer));
  expect(memory.has(unclaimedBuffer(400_000).buffer)).toBe(false);
  const again = Array.from({ length: 12 }, () => unclaimedBuffer(1_000_000));
  expect(again.filter(({ buffer }) => memory.has(buffer))).toHaveLength(8);
});

it('a buffer above 4 MiB is not kept', () => {
  const huge = unclaimedBuffer(5_000_000);
  claim(huge);
  giveBack(huge);
  expect(unclaimedBuffer(5_000_000).buffer).not.toBe(huge.buffer);
});
