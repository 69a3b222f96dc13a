import type { ServiceDefinition } from '@grpc/grpc-js';
import { ServiceError } from '../../lib/errors.ts';

/** More than any request needs: its fields bound the rules, paths, labels and variables. Equal to the limit for REST. */
const MAX_FIELDS = 65_536;

/**
 * Limits the number of fields in request messages. The threat: 64 MiB of empty rules, two bytes each, decode to
 * gigabytes of objects. A message with too many fields, or one that cannot be decoded, is replaced by a ServiceError,
 * which the call then throws, because grpc-js reports an error thrown by a deserializer as INTERNAL.
 */
export function withBounds(definition: ServiceDefinition): ServiceDefinition {
  const bounded = Object.entries(definition).map(([name, method]) => {
    const requestDeserialize = (bytes: Buffer): object => {
      if (hasMoreFields(bytes, MAX_FIELDS)) return refused(`must have at most ${MAX_FIELDS} values`);
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return refused('must be valid protobuf of the type of the request');
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  return Object.fromEntries(bounded);
}

function refused(problem: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `a message ${problem}`);
}

/** Counts the top-level fields of the message. Stops at malformed bytes, which the decoder then reports. */
function hasMoreFields(bytes: Buffer, max: number): boolean {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; at < bytes.length; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  for (let count = 0; at < bytes.length; count++) {
    if (count >= max) return true;
    const wireType = varint() & 7;
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 2) {
      // Not `at += varint()`, which adds to the position before the varint.
      const length = varint();
      at += length;
    } else if (wireType === 5) at += 4;
    else return false;
  }
  return false;
}
