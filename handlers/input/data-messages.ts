/** Bytes of data per message: far below the 4 MiB that gRPC clients accept by default. */
const MESSAGE_BYTES = 256 * 1024;

/** Divides bytes into pieces of one message each; no bytes give no pieces. */
export function messagePieces(bytes: Uint8Array, size = MESSAGE_BYTES): Uint8Array[] {
  if (bytes.length <= size) return bytes.length === 0 ? [] : [bytes];
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += size) {
    pieces.push(bytes.subarray(from, from + size));
  }
  return pieces;
}

/** Converts bytes to messages with a field `data`. */
export async function* dataMessages(
  source: AsyncIterable<Uint8Array>,
  size = MESSAGE_BYTES,
): AsyncGenerator<{ data: Uint8Array }, void, void> {
  for await (const bytes of source) {
    for (const data of messagePieces(bytes, size)) yield { data };
  }
}
