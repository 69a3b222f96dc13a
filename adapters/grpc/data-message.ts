/** Tag of field 1, length-delimited: `bytes data = 1` of every response message of a stream. */
const DATA_TAG = 0x0a;

type Serialize = (message: object) => Buffer;

/** A message in its gRPC frame, in parts, so that its data is not copied. */
export interface FramedParts {
  before: Buffer;
  data: Uint8Array;
  after: Buffer;
}

/**
 * Encodes a response of a stream without copying `data` field by field: `data` is field 1, so it is written first and
 * the encoding of the other fields is appended. The bytes are equal to those of the general encoder. undefined: a message
 * without a field `data`.
 */
export function framedParts(message: object, serialize: Serialize): FramedParts | undefined {
  const { data, ...others } = message as { data?: unknown };
  if (!(data instanceof Uint8Array)) return undefined;
  const after = serialize(others);
  const head = [DATA_TAG, ...varint(data.length)];
  // The compressed flag (one byte) and the message length (four bytes).
  const before = Buffer.from([0, 0, 0, 0, 0, ...head]);
  before.writeUInt32BE(head.length + data.length + after.length, 1);
  return { before, data, after };
}

export function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return [...bytes, left];
    bytes.push((left & 0x7f) | 0x80);
  }
}
