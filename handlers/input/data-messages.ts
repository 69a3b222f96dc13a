/** Bytes of data in one message: far below the 4 MiB that gRPC clients take by default. */
const MESSAGE_BYTES = 256 * 1024;

/** Bytes in pieces of one message each; none for no bytes. */
export function messagePieces(bytes: Uint8Array): Uint8Array[] {
  if (bytes.length <= MESSAGE_BYTES) return bytes.length === 0 ? [] : [bytes];
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += MESSAGE_BYTES) {
    pieces.push(bytes.subarray(from, from + MESSAGE_BYTES));
  }
  return pieces;
}

/** Bytes as messages of one field `data`. */
export async function* dataMessages(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ data: Uint8Array }, void, void> {
  for await (const bytes of source) {
    for (const data of messagePieces(bytes)) yield { data };
  }
}
