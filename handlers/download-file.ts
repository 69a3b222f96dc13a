import type { StoredFile } from '../lib/services.ts';
import { define, string } from './define.ts';

/** Bytes of data in one message: far below the 4 MiB that gRPC clients take by default. */
const MESSAGE_BYTES = 256 * 1024;

/**
 * One version of a file, and, iterated, the DownloadFileResponse messages of its whole content. Iterating closes it;
 * whoever does not iterate must call `close`.
 */
export interface Download extends AsyncIterable<{ data: Uint8Array }> {
  readonly file: StoredFile;
  close(): Promise<void>;
}

export const downloadFile = define(
  { codebase_id: string, file_path: string },
  async ({ request }, { services }): Promise<Download> => {
    const file = await services.codebases.open(request.codebase_id, request.file_path);
    return { file, close: () => file.close(), [Symbol.asyncIterator]: () => messages(file) };
  },
);

async function* messages(file: StoredFile): AsyncGenerator<{ data: Uint8Array }, void, void> {
  try {
    for await (const bytes of file.read() as AsyncIterable<Buffer>) {
      for (let from = 0; from < bytes.length; from += MESSAGE_BYTES) {
        yield { data: bytes.subarray(from, from + MESSAGE_BYTES) };
      }
    }
  } finally {
    await file.close();
  }
}
