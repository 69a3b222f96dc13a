import type { ByteStream } from '../lib/services.ts';
import { define, string } from './define.ts';

/** Bytes of data in one message: far below the 4 MiB that gRPC clients take by default. */
const MESSAGE_BYTES = 256 * 1024;

/** ExportChangesResponse messages. */
export interface Export extends AsyncIterable<{ data: Uint8Array }> {
  contentType: string;
}

export const exportChanges = define(
  { sandbox_id: string, format: string },
  async ({ request }, { services }): Promise<Export> => {
    const bytes = await services.sandboxes.exportChanges(request.sandbox_id, request.format);
    return { contentType: bytes.contentType, [Symbol.asyncIterator]: () => messages(bytes) };
  },
);

async function* messages(bytes: ByteStream): AsyncGenerator<{ data: Uint8Array }, void, void> {
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; from += MESSAGE_BYTES) {
      yield { data: chunk.subarray(from, from + MESSAGE_BYTES) };
    }
  }
}
