import { LongText } from '../../lib/long-text.ts';
import { weigh } from '../message-weight.ts';

/** Characters of JSON encoded in one step: well below a millisecond, even if each is escaped. */
const PIECE = 16_384;
/** Bytes whose base64 has PIECE characters: a multiple of 3, so that the pieces join. */
const BYTES_PIECE = (PIECE / 4) * 3;
/**
 * Encodes the message as JSON.stringify does, bytes as base64, in pieces of bounded length. The threat: the output of a command can be
 * megabytes of characters that need escaping, which blocks the main thread for 0.1 s if encoded in one step.
 */
export function* jsonPieces(message: unknown): Generator<string, void, void> {
  let pending = '';
  for (const part of parts(message)) {
    pending += part;
    if (pending.length < PIECE) continue;
    yield pending;
    pending = '';
  }
  if (pending !== '') yield pending;
}

function* parts(value: unknown): Generator<string, void, void> {
  if (value instanceof LongText) yield* longTextParts(value);
  else if (value instanceof Uint8Array) yield* bytesParts(value);
  else if (typeof value === 'string' && value.length > PIECE) yield* stringParts(value);
  else if (weigh(value, PIECE) >= 0) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* arrayParts(value);
  else {
    let before = '{';
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* parts(each);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

/** Small items are encoded together: a list of changes has thousands. */
function* arrayParts(items: readonly unknown[]): Generator<string, void, void> {
  yield '[';
  for (let from = 0; from < items.length; ) {
    if (from > 0) yield ',';
    let to = from;
    for (let left = PIECE; to < items.length; to++) {
      left = weigh(items[to], left - 1);
      if (left < 0) break;
    }
    if (to > from) yield JSON.stringify(items.slice(from, to)).slice(1, -1);
    else yield* parts(items[to++]);
    from = to;
  }
  yield ']';
}

/** proto3 JSON has bytes as base64. */
function* bytesParts(bytes: Uint8Array): Generator<string, void, void> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  yield '"';
  for (let from = 0; from < buffer.length; from += BYTES_PIECE) {
    yield buffer.toString('base64', from, Math.min(from + BYTES_PIECE, buffer.length));
  }
  yield '"';
}

function* stringParts(text: string): Generator<string, void, void> {
  yield '"';
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE, text.length);
    // Keeps surrogate pairs together.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function* longTextParts(text: LongText): Generator<string, void, void> {
  yield '"';
  for (const piece of text.pieces()) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}
