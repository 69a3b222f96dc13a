/** Bytes of data in one message: far below the 4 MiB that gRPC clients take by default. */
const MESSAGE_BYTES = 256 * 1024;

/** Bytes as messages of one field `data`. */
export async function* dataMessages(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ data: Uint8Array }, void, void> {
  for await (const bytes of source) {
    for (let from = 0; from < bytes.length; from += MESSAGE_BYTES) {
      yield { data: bytes.subarray(from, from + MESSAGE_BYTES) };
    }
  }
}
