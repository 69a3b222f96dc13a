import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** Field 1, length-delimited: `bytes data = 1` of every message that streams out. */
const DATA_TAG = 0x0a;

/**
 * The responses of a stream encoded without copying their data field by field: it is field 1, so it goes first, and
 * what else the message has is encoded behind it. The same bytes as the general encoder's.
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
