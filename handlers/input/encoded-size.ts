import { isUtf8 } from 'node:buffer';

/** Bytes of U+FFFD in UTF-8, which takes the place of bytes that are not UTF-8. */
export const REPLACEMENT_BYTES = 3;
/** Most bytes of a divided character at the end of a chunk. */
const DIVIDED = 3;

/**
 * Bytes of the decoded chunks in UTF-8, or more. Equal to their length if all of it is UTF-8, a few bytes a chunk apart. A
 * chunk with other bytes counts as if each of them, and of its characters beyond ASCII, were replaced.
 */
export function encodedSize(chunks: readonly Uint8Array[]): number {
  let size = 0;
  for (const chunk of chunks) size += sizeOf(chunk);
  return size;
}

function sizeOf(chunk: Uint8Array): number {
  const from = startOfCharacter(chunk);
  const to = endOfCharacter(chunk, from);
  const divided = from + chunk.length - to;
  if (isUtf8(chunk.subarray(from, to))) return chunk.length + divided * (REPLACEMENT_BYTES - 1);
  let beyond = 0;
  for (let index = 0; index < chunk.length; index++) if (chunk[index]! >= 0x80) beyond++;
  return chunk.length + beyond * (REPLACEMENT_BYTES - 1);
}

const continues = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Position after the rest of a character that began in the chunk before. */
function startOfCharacter(chunk: Uint8Array): number {
  let at = 0;
  while (at < Math.min(DIVIDED, chunk.length) && continues(chunk[at]!)) at++;
  return at;
}

/** Position of a last character that may go on in the next chunk, or the end. */
function endOfCharacter(chunk: Uint8Array, from: number): number {
  for (let at = chunk.length - 1; at >= Math.max(from, chunk.length - DIVIDED); at--) {
    if (!continues(chunk[at]!)) return chunk[at]! >= 0xc0 ? at : chunk.length;
  }
  return chunk.length;
}
