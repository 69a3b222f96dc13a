/** Bytes of data per message: far below the 4 MiB that gRPC clients accept by default. */
const MESSAGE_BYTES = 256 * 1024;

/** Divides bytes into pieces of one message each; no bytes give no pieces. */
export function messagePieces(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= MESSAGE_BYTES) return bytes.length === 0 ? [] : [bytes];
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += MESSAGE_BYTES) {
    pieces.push(bytes.subarray(from, from + MESSAGE_BYTES));
  }
  return pieces;
}

/** Converts bytes to messages with a field `data`. */
export async function* dataMessages(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ data: Uint8Array }, void, void> {
  for await (const bytes of source) {
    for (const data of messagePieces(bytes)) yield { data };
  }
}
