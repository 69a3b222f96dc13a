import type { ServiceDefinition } from '@grpc/grpc-js';
import { breaks } from '../../lib/breaks.ts';
import { LongText } from '../../lib/long-text.ts';
import { weigh } from '../message-weight.ts';
import { varint } from './data-message.ts';

/** Weight of what is encoded in one step. */
const HEAVY = 32_768;

type Serialize = (message: object) => Buffer;
/** A text is encoded where it belongs: one buffer less of its length. */
type Part = string | Buffer;

/** Answers that are encoded already are sent as they are. */
export function passingEncoded(definition: ServiceDefinition): ServiceDefinition {
  const methods = Object.entries(definition).map(([name, method]) => {
    const responseSerialize = (message: object) =>
      Buffer.isBuffer(message) ? message : method.responseSerialize(message);
    return [name, { ...method, responseSerialize }];
  });
  return Object.fromEntries(methods);
}

/**
 * Encodes the message of a unary response in steps of bounded length. The threat: the output of a command, or a page of
 * thousands of entries, blocks the main thread for up to 90 ms if it is encoded in one step. Throws if `signal` fires.
 */
export async function encodeLarge(message: object, serialize: Serialize, signal: AbortSignal): Promise<Buffer> {
  const parts: Part[] = [];
  let length = 0;
  for (const part of partsOf(message, serialize)) {
    parts.push(part);
    length += Buffer.byteLength(part);
    const due = breaks.due();
    if (due !== undefined) await due;
    signal.throwIfAborted();
  }
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const part of parts) {
    at += typeof part === 'string' ? whole.write(part, at) : part.copy(whole, at);
    const due = breaks.due();
    if (due !== undefined) await due;
  }
  return whole;
}

/**
 * Fields may occur in any order, and the entries of a list may be split over several encodings of the message, which a
 * decoder merges (https://protobuf.dev/programming-guides/encoding/).
 */
export function* partsOf(message: object, serialize: Serialize): Generator<Part, void, void> {
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    // The encoding of a one-character string, without its length and its character, is the field's tag.
    if (value instanceof LongText) yield* withLength(serialize({ [name]: 'x' }).subarray(0, -2), value.pieces());
    else if (Array.isArray(value)) yield* listParts(name, value, serialize);
    // Of a map, an empty one has no encoding.
    else if (isHeavy(value) && serialize({ [name]: {} }).length > 0) {
      yield* messageParts(value, (part) => serialize({ [name]: part }));
    } else others[name] = value;
  }
  yield serialize(others);
}

/** Small entries are encoded together; one of a page of sandboxes can have 10,000 rules. */
function* listParts(name: string, list: readonly unknown[], serialize: Serialize): Generator<Part, void, void> {
  for (let from = 0, to = 0; from < list.length; from = to) {
    const first = list[to++];
    if (isHeavy(first)) {
      yield* messageParts(first, (part) => serialize({ [name]: [part] }));
      continue;
    }
    for (let left = weigh(first, HEAVY); to < list.length && left >= 0; left = weigh(list[to++], left - 1));
    yield serialize({ [name]: list.slice(from, to) });
  }
}

/** The parts of a message in a field. `serialize`: encodes that field, with its tag and its length. */
function* messageParts(message: object, serialize: Serialize): Generator<Part, void, void> {
  // The length of an empty message is one byte.
  const tag = serialize({}).subarray(0, -1);
  const content = (part: object) => {
    const field = serialize(part);
    let last = tag.length;
    while (field[last]! >= 0x80) last++;
    return field.subarray(last + 1);
  };
  yield* withLength(tag, partsOf(message, content));
}

function* withLength(tag: Buffer, parts: Iterable<Part>): Generator<Part, void, void> {
  const content: Part[] = [];
  let length = 0;
  for (const part of parts) {
    content.push(part);
    length += Buffer.byteLength(part);
    yield '';
  }
  yield Buffer.concat([tag, Buffer.from(varint(length))]);
  yield* content;
}

function isHeavy(value: unknown): value is object {
  return typeof value === 'object' && !(value instanceof Uint8Array) && weigh(value, HEAVY) < 0;
}
