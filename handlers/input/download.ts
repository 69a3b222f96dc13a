import type { ReadableFile } from '../../lib/readable-file.ts';
import { dataMessages } from './data-messages.ts';

/** What one read of a large file brings: grpc-js as the client halts the stream after each message. */
const MESSAGE_BYTES = 512 * 1024;

/**
 * One version of a file; iterating yields messages with its complete content and closes it. A caller that does not
 * iterate must call `close`.
 */
export interface Download extends AsyncIterable<{ data: Uint8Array }> {
  readonly file: ReadableFile;
  close(): Promise<void>;
}

export function download(file: ReadableFile): Download {
  return { file, close: () => file.close(), [Symbol.asyncIterator]: () => messages(file) };
}

async function* messages(file: ReadableFile): AsyncGenerator<{ data: Uint8Array }, void, void> {
  try {
    yield* dataMessages(file.read() as AsyncIterable<Buffer>, MESSAGE_BYTES);
  } finally {
    await file.close();
  }
}
