import type { ServerHttp2Stream } from 'node:http2';
import type { ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import { ServiceError } from '../../lib/errors.ts';

type ClientStream<T> = ServerReadableStream<T, object> | ServerDuplexStream<T, object>;

/** Milliseconds to wait for a reset after the end of a stream when no PING can be sent. */
const RESET_MS = 10;

/**
 * The messages of a client stream, read at the consumer's pace. Ends only if the client ended the stream; throws
 * CANCELLED if the stream was reset.
 */
export async function* messagesOf<T>(call: ClientStream<T>): AsyncGenerator<T, void, void> {
  // Leaving the loop early must not destroy the stream: the error status still has to be sent on it.
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
 * Detects a cancelled stream that looks complete. Node's HTTP/2 client, on which grpc-js is built, ends a stream with
 * END_STREAM before it sends the reset, in a second packet. Without this check, half a file could be stored. The reset
 * was sent before the client can acknowledge a PING, so it has arrived when the acknowledgement does.
 */
async function wasReset(call: ClientStream<unknown>): Promise<boolean> {
  const stream = http2StreamOf(call);
  await new Promise<void>((resolve) => {
    const later = () => setTimeout(resolve, RESET_MS);
    const { session } = stream ?? {};
    if (!session || session.closed || session.destroyed) later();
    // A session allows ten outstanding pings; ping() fails for one more.
    else session.ping((error) => (error ? later() : resolve()));
  });
  return call.cancelled || call.destroyed || stream?.closed === true;
}

/**
 * The HTTP/2 stream of a call. grpc-js keeps it in a private field and reports a reset of it too late. Because of the
 * private field the range of @grpc/grpc-js in package.json is `~`; test/adapters/client-stream.test.ts fails if the
 * field moves.
 */
export function http2StreamOf(call: object): ServerHttp2Stream | undefined {
  return (call as unknown as { call?: { stream?: ServerHttp2Stream } }).call?.stream;
}
