import type { ReadableFile } from '../lib/services.ts';
import { dataMessages, define, fileRequest } from './define.ts';

/** Iterating closes it; whoever does not iterate must call `close`. */
export const readFile = define(fileRequest, async ({ request }, { services }) => {
  const file = await services.sandboxes.readFile(request);
  return { file, close: () => file.close(), [Symbol.asyncIterator]: () => messages(file) };
});

async function* messages(file: ReadableFile): AsyncGenerator<{ data: Uint8Array }, void, void> {
  try {
    yield* dataMessages(file.read() as AsyncIterable<Buffer>);
  } finally {
    await file.close();
  }
}
