import type { ServiceDefinition } from '@grpc/grpc-js';
import { ServiceError } from '../../lib/errors.ts';
import { withInputAsBytes } from './long-input.ts';
import type { Content, Shape } from './shapes.ts';

/** More than any request needs: its fields bound the rules, paths, labels and variables. Equal to the limits for REST. */
const MAX_FIELDS = 65_536;
const MAX_DEPTH = 32;

/** The request's shape, by the name of the message. */
export type ShapeOf = (message: string) => Shape;

/**
 * Limits the number of fields in request messages, at all depths. The threat: 64 MiB of empty rules, two bytes each, decode to
 * gigabytes of objects. A message with too many fields, or one that cannot be decoded, is replaced by a ServiceError,
 * which the call then throws, because grpc-js reports an error thrown by a deserializer as INTERNAL.
 */
export function withBounds(definition: ServiceDefinition, shapeOf: ShapeOf): ServiceDefinition {
  const bounded = Object.entries(definition).map(([name, method]) => {
    const { requestType } = method as unknown as { requestType: { type: { name: string } } };
    const { name: message } = requestType.type;
    const shape = shapeOf(message);
    const requestDeserialize = (bytes: Buffer): object => {
      const problem = new Counter(bytes).problem(shape);
      if (problem !== undefined) return refused(problem);
      if (message === 'ExecRequest' && !withInputAsBytes(bytes)) return refused('must have valid UTF-8 in stdin');
      try {
        return method.requestDeserialize(bytes);
      } catch {
        return refused(MALFORMED);
      }
    };
    return [name, { ...method, requestDeserialize }];
  });
  return Object.fromEntries(bounded);
}

const MALFORMED = 'must be valid protobuf of the type of the request';
const TOO_MANY = `must have at most ${MAX_FIELDS} values`;
const TOO_DEEP = `must be nested at most ${MAX_DEPTH} deep`;

function refused(problem: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `a message ${problem}`);
}

/**
 * Counts the values of a message without decoding it: the fields of all messages in it, the entries of maps, and the numbers
 * of packed fields. Bytes and strings are passed over.
 */
class Counter {
  readonly #bytes: Buffer;
  #at = 0;
  #count = 0;
  #depth = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** What is wrong with the message, whose shape is given. */
  problem(shape: Shape, end: number = this.#bytes.length): string | undefined {
    if (++this.#depth > MAX_DEPTH) return TOO_DEEP;
    while (this.#at < end) {
      if (++this.#count > MAX_FIELDS) return TOO_MANY;
      const tag = this.#varint();
      const problem = this.#value(tag % 8, end, shape.get(Math.floor(tag / 8)));
      if (problem !== undefined) return problem;
    }
    this.#depth--;
    return this.#at > end ? MALFORMED : undefined;
  }

  #value(wireType: number, end: number, content: Content | undefined): string | undefined {
    if (wireType === 0) this.#varint();
    else if (wireType === 1) this.#at += 8;
    else if (wireType === 5) this.#at += 4;
    else if (wireType === 2) return this.#withLength(end, content);
    // Groups, which no version of proto3 has: their decoder calls itself for each of them.
    else return MALFORMED;
    return undefined;
  }

  #withLength(end: number, content: Content | undefined): string | undefined {
    const length = this.#varint();
    const last = this.#at + length;
    if (last > end) return MALFORMED;
    if (content === undefined) this.#at = last;
    else if ('message' in content) return this.problem(content.message, last);
    else return this.#packed(content.packed, last);
    return undefined;
  }

  #packed(size: number | 'varint', last: number): string | undefined {
    if (size !== 'varint') {
      this.#count += (last - this.#at) / size;
      this.#at = last;
    }
    while (this.#at < last && this.#count <= MAX_FIELDS) {
      this.#count++;
      this.#varint();
    }
    return this.#count > MAX_FIELDS ? TOO_MANY : undefined;
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; this.#at < this.#bytes.length; shift += 7) {
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    return value;
  }
}
