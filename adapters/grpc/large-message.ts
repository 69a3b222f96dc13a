import type { ServerHttp2Stream } from 'node:http2';
import { Metadata, type ServerUnaryCall } from '@grpc/grpc-js';
import { LongText } from '../../lib/long-text.ts';
import type { Turns } from '../../lib/turns.ts';
import { isLarge, weigh } from '../message-weight.ts';

/** Characters of a string, and weight of the entries of a list, that are encoded in one step. */
const PIECE = 32_768;
const ENTRIES_WEIGHT = 16_384;
const NOTHING = Buffer.alloc(0);
/** Prefix of a gRPC message: the compressed flag (one byte) and the message length (four bytes). */
const FRAME_BYTES = 5;

type Serialize = (message: object) => Buffer;

/** An encoded message, its long texts still as strings. */
export interface Encoded {
  parts: readonly (string | Buffer)[];
  length: number;
}

/**
 * Encodes the message of a unary response in steps of bounded length. The threat: grpc-js encodes, copies and writes a
 * message in one step, which blocks the main thread for up to 90 ms for a command's output.
 */
export async function encodeLarge(message: object, serialize: Serialize, turns: Turns): Promise<Encoded> {
  const parts: (string | Buffer)[] = [];
  let length = 0;
  for (const part of partsOf(message, serialize)) {
    await turns.next();
    if (part !== NOTHING) parts.push(part);
    length += Buffer.byteLength(part);
  }
  return { parts, length };
}

/**
 * Sends an encoded message in steps, with backpressure; the caller then sends the status. Resolves early if the client
 * disconnects.
 */
export async function sendLarge(
  call: ServerUnaryCall<object, object>,
  { parts, length }: Encoded,
  turns: Turns,
): Promise<void> {
  // grpc-js has no public access to the HTTP/2 stream.
  const { stream } = (call as unknown as { call: { stream: ServerHttp2Stream } }).call;
  if (call.cancelled || stream.destroyed) return;
  call.sendMetadata(new Metadata());
  const frame = Buffer.alloc(FRAME_BYTES);
  frame.writeUInt32BE(length, 1);
  stream.write(frame);
  for (const part of parts) {
    await turns.next();
    if (stream.destroyed || stream.closed) return;
    if (!stream.write(Buffer.from(part as string))) await writable(stream);
  }
}

/**
 * Encodes the message in parts. A part of a long string is returned as a string that is still to be encoded as UTF-8.
 * Fields may occur in any order, and the entries of a list may be split over several encodings of the message, which a
 * decoder merges (https://protobuf.dev/programming-guides/encoding/).
 */
export function* partsOf(message: object, serialize: Serialize): Generator<string | Buffer, void, void> {
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    if (value instanceof LongText) yield* textParts(name, encoded(value), serialize);
    else if (typeof value === 'string' && value.length > PIECE) yield* textParts(name, cut(value), serialize);
    else if (Array.isArray(value)) yield* listParts(name, value, serialize);
    else if (isObject(value) && isLarge(value) && isMessage(name, serialize)) {
      yield* messageParts(value, (part) => serialize({ [name]: part }));
    } else others[name] = value;
  }
  yield serialize(others);
}

function* textParts(
  name: string,
  text: Iterable<string | Buffer>,
  serialize: Serialize,
): Generator<string | Buffer, void, void> {
  // The encoding of a one-character string, without its length and its character, is the field's tag.
  const tag = serialize({ [name]: 'x' }).subarray(0, -2);
  const pieces: (string | Buffer)[] = [];
  let length = 0;
  for (const piece of text) {
    pieces.push(piece);
    length += Buffer.byteLength(piece);
    // Ends a step: computing the UTF-8 length of a string of megabytes takes noticeable time, too.
    if (pieces.length % 16 === 0) yield NOTHING;
  }
  yield Buffer.concat([tag, varint(length)]);
  yield* pieces;
}

function* encoded(text: LongText): Generator<Buffer, void, void> {
  for (const piece of text.pieces()) yield Buffer.from(piece);
}

function* cut(text: string): Generator<string, void, void> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE, text.length);
    // Keeps surrogate pairs together.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield text.slice(from, to);
    from = to;
  }
}

/** Small entries are encoded together; one of a page of sandboxes can have 10,000 rules. */
function* listParts(
  name: string,
  list: readonly unknown[],
  serialize: Serialize,
): Generator<string | Buffer, void, void> {
  for (let from = 0; from < list.length; ) {
    let to = from;
    for (let left = ENTRIES_WEIGHT; to < list.length; to++) {
      left = weigh(list[to], left - 1);
      if (left < 0) break;
    }
    const large = to === from ? list[to++] : undefined;
    if (isObject(large)) yield* messageParts(large, (part) => serialize({ [name]: [part] }));
    else yield serialize({ [name]: list.slice(from, to) });
    from = to;
  }
}

/** The parts of a message in a field. `serialize`: encodes that field, with its tag and its length. */
function* messageParts(message: object, serialize: Serialize): Generator<string | Buffer, void, void> {
  // The length of an empty message is one byte.
  const tag = serialize({}).subarray(0, -1);
  const content = (part: object) => {
    const field = serialize(part);
    let start = tag.length;
    while (field[start]! >= 0x80) start++;
    return field.subarray(start + 1);
  };
  const pieces: (string | Buffer)[] = [];
  let length = 0;
  for (const piece of partsOf(message, content)) {
    yield NOTHING;
    pieces.push(piece);
    length += Buffer.byteLength(piece);
  }
  yield Buffer.concat([tag, varint(length)]);
  yield* pieces;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !(value instanceof LongText);
}

/** Whether the field is a message, of which an empty one is encoded; of a map there is nothing. */
function isMessage(name: string, serialize: Serialize): boolean {
  return serialize({ [name]: {} }).length > 0;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

/** Resolves when the stream accepts more data or is closed. */
function writable(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
