import type { ServiceDefinition } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { withBounds } from '../../adapters/grpc/bounds.ts';

const decoded = { decoded: true };
const method = { path: '/s/m', requestStream: true, responseStream: false, requestDeserialize: () => decoded };
const { m } = withBounds({ m: method } as unknown as ServiceDefinition);

/** A field with a length. */
function field(number: number, bytes: Buffer): Buffer {
  const length = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) break;
  }
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes]);
}

it('bytes of a content are no fields, whatever they are and whatever the fields before them end with', () => {
  for (let byte = 0; byte < 256; byte += 3) {
    const message = Buffer.concat([
      field(1, Buffer.from(`sb_${String.fromCharCode(byte)}`)),
      field(4, Buffer.alloc(1 << 19, byte)),
    ]);
    expect(m!.requestDeserialize(message)).toBe(decoded);
  }
  const many = Buffer.concat(Array.from({ length: 65_537 }, () => field(1, Buffer.alloc(0))));
  expect(m!.requestDeserialize(many)).toMatchObject({ code: 'INVALID_ARGUMENT' });
});
