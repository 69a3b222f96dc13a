import type { ServiceDefinition } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { withBounds } from '../../adapters/grpc/bounds.ts';
import type { Shape } from '../../adapters/grpc/shapes.ts';

const decoded = { decoded: true };
const method = {
  path: '/s/m',
  requestStream: true,
  responseStream: false,
  requestDeserialize: () => decoded,
  requestType: { type: { name: 'M' } },
};
const ENTRY: Shape = new Map([[2, { packed: 'varint' }]]);
const SHAPE: Shape = new Map([[2, { message: new Map([[3, { message: ENTRY }]]) }]]);
const { m } = withBounds({ m: method } as unknown as ServiceDefinition, () => SHAPE);

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

const refusal = (message: string) => ({ code: 'INVALID_ARGUMENT', message });

it.each<[string, (count: number) => Buffer]>([
  [
    'messages in a message',
    (count) => field(2, Buffer.concat(Array.from({ length: count }, () => field(3, Buffer.alloc(0))))),
  ],
  [
    'messages of many lists',
    (count) => Buffer.concat(Array.from({ length: count / 2 }, () => field(2, field(3, Buffer.alloc(0))))),
  ],
  ['numbers of a packed list', (count) => field(2, field(3, field(2, Buffer.alloc(count, 1))))],
])('values are counted at all depths: %s', (_, of) => {
  expect(m!.requestDeserialize(of(65_000))).toBe(decoded);
  expect(m!.requestDeserialize(of(70_000))).toMatchObject(refusal('a message must have at most 65536 values'));
});

it('a message that has itself in it is nested at most 32 deep', () => {
  const self = new Map<number, { message: Shape }>();
  self.set(1, { message: self });
  const nested = (depth: number): Buffer => (depth === 0 ? Buffer.alloc(0) : field(1, nested(depth - 1)));
  const { n } = withBounds({ n: method } as unknown as ServiceDefinition, () => self);
  expect(n!.requestDeserialize(nested(31))).toBe(decoded);
  expect(n!.requestDeserialize(nested(32))).toMatchObject(refusal('a message must be nested at most 32 deep'));
});

it.each([
  ['a length beyond the end of its message', Buffer.from([0x12, 2, 0x1a, 5])],
  ['a group', Buffer.from([0x0b, 0x0c])],
])('%s is not valid', (_, message) => {
  expect(m!.requestDeserialize(message)).toMatchObject(
    refusal('a message must be valid protobuf of the type of the request'),
  );
});
