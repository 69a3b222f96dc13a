import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** Tag of field 1, length-delimited: `bytes data = 1` of every response message of a stream. */
const DATA_TAG = 0x0a;
/** Prefix of a gRPC message: the compressed flag (one byte) and the message length (four bytes). */
const FRAME_BYTES = 5;

type Serialize = (message: object) => Buffer;

/** A message in its gRPC frame, in parts, so that its data is not copied. */
export interface FramedParts {
  before: Buffer;
  data: Uint8Array;
  after: Buffer;
}

/**
 * Encodes the responses of streams without copying `data` field by field: `data` is field 1, so it is written first and
 * the encoding of the other fields is appended. The bytes are equal to those of the general encoder.
 */
export function withDataFirst(definition: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    method.responseStream ? { ...method, responseSerialize: dataFirst(method) } : method,
  ]);
  return Object.fromEntries(methods);
}

function dataFirst({ responseSerialize }: MethodDefinition<object, object>): Serialize {
  return (message) => {
    const parts = framedParts(message, responseSerialize);
    if (parts === undefined) return responseSerialize(message);
    const { before, data, after } = parts;
    return Buffer.concat([before.subarray(FRAME_BYTES), data, after]);
  };
}

/** undefined: a message without a field `data`. */
export function framedParts(message: object, serialize: Serialize): FramedParts | undefined {
  const { data, ...others } = message as { data?: unknown };
  if (!(data instanceof Uint8Array)) return undefined;
  const after = serialize(others);
  const head = [DATA_TAG, ...varint(data.length)];
  const before = Buffer.from([0, 0, 0, 0, 0, ...head]);
  before.writeUInt32BE(head.length + data.length + after.length, 1);
  return { before, data, after };
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return [...bytes, left];
    bytes.push((left & 0x7f) | 0x80);
  }
}
