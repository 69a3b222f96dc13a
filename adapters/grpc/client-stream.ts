import type { ServerHttp2Stream } from 'node:http2';
import type { ServerReadableStream } from '@grpc/grpc-js';
import { ServiceError } from '../../lib/errors.ts';

/** How long a reset may follow an end where the client cannot be asked. */
const RESET_MS = 10;

/** The messages of a client stream, read as fast as they are asked for; ends only where the client ended it. */
export async function* messagesOf<T>(call: ServerReadableStream<T, object>): AsyncGenerator<T, void, void> {
  // Leaving early must not destroy the stream: the refusal still has to be sent.
  const messages = call.iterator({ destroyOnReturn: false }) as AsyncIterable<T>;
  try {
    for await (const message of messages) {
      if (message instanceof ServiceError) throw message;
      yield message;
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : cutShort();
  }
  if (await wasReset(call)) throw cutShort();
}

function cutShort(): ServiceError {
  return new ServiceError('CANCELLED', 'the stream was cut short');
}

/**
 * A cancelled stream can look like one that ended well: Node's HTTP/2 client, on which grpc-js is built, ends a stream
 * with END_STREAM before it resets it, in two packets. Taken at its word, half a file would be stored. The reset is on
 * its way by then, so the answer to a PING comes after it.
 */
async function wasReset(call: ServerReadableStream<unknown, object>): Promise<boolean> {
  const stream = http2StreamOf(call);
  await new Promise<void>((resolve) => {
    const later = () => setTimeout(resolve, RESET_MS);
    const { session } = stream ?? {};
    if (!session || session.closed || session.destroyed) later();
    // A session has ten pings under way at most; one more fails.
    else session.ping((error) => (error ? later() : resolve()));
  });
  return call.cancelled || call.destroyed || stream?.closed === true;
}

/**
 * The HTTP/2 stream of a call, which grpc-js keeps in a private field and reports a reset of too late. The field is the
 * reason for the `~` range of @grpc/grpc-js in package.json; test/adapters/client-stream.test.ts fails when it moves.
 */
export function http2StreamOf(call: ServerReadableStream<unknown, object>): ServerHttp2Stream | undefined {
  return (call as unknown as { call?: { stream?: ServerHttp2Stream } }).call?.stream;
}
