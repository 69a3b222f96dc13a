import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** Tag of field 1, length-delimited: `bytes data = 1` of every response message of a stream. */
const DATA_TAG = 0x0a;

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

function dataFirst({ responseSerialize }: MethodDefinition<object, object>): (message: object) => Buffer {
  return (message) => {
    const { data, ...others } = message as { data?: unknown };
    if (!(data instanceof Uint8Array)) return responseSerialize(message);
    const rest = responseSerialize(others);
    const length = varint(data.length);
    const bytes = Buffer.allocUnsafe(1 + length.length + data.length + rest.length);
    bytes[0] = DATA_TAG;
    bytes.set(length, 1);
    bytes.set(data, 1 + length.length);
    bytes.set(rest, 1 + length.length + data.length);
    return bytes;
  };
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return [...bytes, left];
    bytes.push((left & 0x7f) | 0x80);
  }
}
