import { expect, it } from 'vitest';
import { giveBack, RECYCLED_BYTES, recycledBuffer, sharedView } from '../../lib/recycled-buffers.ts';

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
