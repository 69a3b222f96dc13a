import { expect, it } from 'vitest';
import {
  claim,
  giveBack,
  inFront,
  largeBuffer,
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

it.each([recycledBuffer, () => largeBuffer(200_000)])(
  'data has room for a head in front of it, and stays where it is',
  (lease) => {
    const data = lease();
    data.fill(7);
    const whole = inFront(data, 100)!;
    expect(whole.buffer).toBe(data.buffer);
    expect(whole.subarray(100).equals(data)).toBe(true);
    const next = () => (data.length > RECYCLED_BYTES ? largeBuffer(200_000) : recycledBuffer()).buffer;
    giveBack(data);
    expect(next()).not.toBe(data.buffer);
    giveBack(whole);
    expect(next()).toBe(data.buffer);
  },
);

it('nothing is put in front of data in a buffer of which there are other views, or without room', () => {
  const buffer = recycledBuffer();
  const later = sharedView(buffer, 100, 200);
  expect([inFront(buffer, 10), inFront(later, 10), inFront(Buffer.from('own'), 1)]).toEqual(Array(3).fill(undefined));
  giveBack(buffer);
  expect(inFront(later, 10_000)).toBeUndefined();
  expect(inFront(later, 10)).toHaveLength(110);
});
