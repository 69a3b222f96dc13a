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
  const pieces = piecesOf(value);
  if (pieces !== undefined) {
    yield '"';
    yield* pieces;
    yield '"';
  } else if (weigh(value, PIECE) >= 0) yield JSON.stringify(value) ?? 'null';
  else {
    const isList = Array.isArray(value);
    yield isList ? '[' : '{';
    let between = '';
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined && !isList) continue;
      yield isList ? between : `${between}${JSON.stringify(name)}:`;
      yield* parts(each);
      between = ',';
    }
    yield isList ? ']' : '}';
  }
}

/** What is between the quotes; undefined: no string, or a short one. proto3 JSON has bytes as base64. */
function piecesOf(value: unknown): Iterable<string> | undefined {
  if (value instanceof Uint8Array) return base64(value);
  if (value instanceof LongText) return escaped(value.pieces());
  return typeof value === 'string' && value.length > PIECE ? escaped(cut(value)) : undefined;
}

function* base64({ buffer, byteOffset, byteLength }: Uint8Array): Generator<string, void, void> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let from = 0; from < byteLength; from += BYTES_PIECE) yield bytes.toString('base64', from, from + BYTES_PIECE);
}

function* escaped(pieces: Iterable<string>): Generator<string, void, void> {
  for (const piece of pieces) yield JSON.stringify(piece).slice(1, -1);
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
