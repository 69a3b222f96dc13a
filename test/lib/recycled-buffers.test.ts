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
  expect(recycledBuffer()).not.toBe(buffer);
  giveBack(part);
  expect(recycledBuffer()).toBe(buffer);
});

it('other buffers are left alone', () => {
  const own = Buffer.from('own');
  const view = sharedView(own, 1, 3);
  expect(view.toString()).toBe('wn');
  giveBack(view);
  giveBack(own);
  expect(recycledBuffer()).not.toBe(own);
});
