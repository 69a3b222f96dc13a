import type { ServerHttp2Stream } from 'node:http2';
import { Metadata, type ServerUnaryCall } from '@grpc/grpc-js';
import type { Turns } from '../../lib/turns.ts';

/** Characters of a text, and entries of a list, that are encoded in one step. */
const PIECE = 32_768;
const ENTRIES = 256;
const NOTHING = Buffer.alloc(0);
/** gRPC's frame: a byte that says the message is not compressed, and its length. */
const FRAME_BYTES = 5;

type Serialize = (message: object) => Buffer;

/**
 * Sends a unary answer as grpc-js would, in steps of bounded length and as fast as the client reads; the status is still
 * to be sent. The threat: grpc-js encodes, copies and writes a message in one step, which for the output of a command
 * holds the main thread for up to 90 ms. Resolves early where the client is gone.
 */
export async function sendLarge(
  call: ServerUnaryCall<object, object>,
  message: object,
  serialize: Serialize,
  turns: Turns,
): Promise<void> {
  // grpc-js keeps the HTTP/2 stream to itself.
  const { stream } = (call as unknown as { call: { stream: ServerHttp2Stream } }).call;
  const parts: (string | Buffer)[] = [];
  let length = 0;
  for (const part of partsOf(message, serialize)) {
    await turns.next();
    if (part !== NOTHING) parts.push(part);
    length += Buffer.byteLength(part);
  }
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
 * The message's encoding in parts; of a text the part is a piece of it, yet to be encoded as UTF-8. Fields and entries of
 * a list may stand in any order and number of encodings, which a decoder merges (protobuf's encoding guide).
 */
export function* partsOf(message: object, serialize: Serialize): Generator<string | Buffer, void, void> {
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    if (typeof value === 'string' && value.length > PIECE) yield* textParts(name, value, serialize);
    else if (Array.isArray(value)) yield* listParts(name, value, serialize);
    else others[name] = value;
  }
  yield serialize(others);
}

function* textParts(name: string, text: string, serialize: Serialize): Generator<string | Buffer, void, void> {
  // The encoding of one character less its length and itself is the field's tag.
  const tag = serialize({ [name]: 'x' }).subarray(0, -2);
  const pieces: string[] = [];
  let length = 0;
  for (const piece of cut(text)) {
    pieces.push(piece);
    length += Buffer.byteLength(piece);
    // The end of a step: to count a text of megabytes takes long enough to be noticed, too.
    if (pieces.length % 16 === 0) yield NOTHING;
  }
  yield Buffer.concat([tag, varint(length)]);
  yield* pieces;
}

function* cut(text: string): Generator<string, void, void> {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE, text.length);
    // The two halves of a character stay together.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield text.slice(from, to);
    from = to;
  }
}

function* listParts(name: string, list: readonly unknown[], serialize: Serialize): Generator<Buffer, void, void> {
  for (let from = 0; from < list.length; from += ENTRIES) yield serialize({ [name]: list.slice(from, from + ENTRIES) });
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

/** Resolves when more may be written, or never will be. */
function writable(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}
