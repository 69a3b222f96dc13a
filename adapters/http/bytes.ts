import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { breaks } from '../../lib/breaks.ts';
import type { Exchange } from './exchange.ts';

/**
 * Responds with a stream of bytes of unknown length. An error before the first byte is sent as a status; a later error
 * closes the connection before the end of the body.
 */
export async function respondBytes({ res, operation, event, context }: Exchange<'bytes'>): Promise<void> {
  const messages = await operation.handler(event, context);
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  res.writeHead(200, {
    'content-type': messages.contentType,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  if (first.done) {
    res.end();
    return;
  }
  const rest = { [Symbol.asyncIterator]: () => iterator };
  await pipeline(Readable.from(bytesOf(first.value, rest)), res);
}

async function* bytesOf(
  first: { data: Uint8Array },
  rest: AsyncIterable<{ data: Uint8Array }>,
): AsyncGenerator<Uint8Array, void, void> {
  yield first.data;
  for await (const { data } of rest) {
    yield data;
    const pause = breaks.due();
    if (pause) await pause;
  }
}
