import { expect, it } from 'vitest';
import { MessageDecoder } from '../../adapters/grpc/message-decoder.ts';

function framed(content: Buffer): Buffer {
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(content.length, 1);
  return Buffer.concat([frame, content]);
}

it.each([1, 3, 5, 7, 16_384, 1 << 20])('cuts messages of any size that arrive %i bytes at a time', (step) => {
  const sent = [0, 1, 5, 60_000, 65_530, 70_000, 200_000]
    .slice(0, step < 5 ? 4 : undefined)
    .map((size, index) => framed(Buffer.alloc(size, index)));
  const all = Buffer.concat(sent);
  const decoder = new MessageDecoder();
  const got: Buffer[] = [];
  for (let at = 0; at < all.length; at += step)
    got.push(...decoder.write(all.subarray(at, at + step)).map(({ message }) => message));
  expect(got.map(({ length }) => length)).toEqual(sent.map(({ length }) => length));
  expect(Buffer.concat(got).equals(all)).toBe(true);
});

it('refuses a message that is too large by its frame', () => {
  const decoder = new MessageDecoder(10);
  expect(decoder.write(framed(Buffer.alloc(10)))).toHaveLength(1);
  expect(() => decoder.write(framed(Buffer.alloc(11)).subarray(0, 5))).toThrow('a message must have at most 10 bytes');
});
