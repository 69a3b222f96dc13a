import type { ReadableFile, StoredFile } from '../lib/services.ts';
import { dataMessages, define, string } from './define.ts';

/**
 * One version of a file, and, iterated, the DownloadFileResponse messages of its whole content. Iterating closes it;
 * whoever does not iterate must call `close`.
 */
export interface Download extends AsyncIterable<{ data: Uint8Array }> {
  readonly file: ReadableFile;
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
    yield* dataMessages(file.read() as AsyncIterable<Buffer>);
  } finally {
    await file.close();
  }
}
