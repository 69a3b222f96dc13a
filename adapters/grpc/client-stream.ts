import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { ServerDuplexStream, ServerReadableStream } from '@grpc/grpc-js';
import { ServiceError } from '../../lib/errors.ts';
import { claim } from '../../lib/recycled-buffers.ts';
import { widen } from './windows.ts';

type ClientStream<T> = ServerReadableStream<T, object> | ServerDuplexStream<T, object>;

/** Milliseconds to wait for a reset after the end of a stream when no PING can be sent. */
const RESET_MS = 100;
const ROUND_TRIPS = 2;

/**
 * The messages of a client stream, read at the consumer's pace. Ends only if the client ended the stream; throws
 * CANCELLED if the stream was reset. `consumed` is called when a message is not needed any more.
 */
export async function* messagesOf<T>(
  call: ClientStream<T>,
  consumed: () => void = () => undefined,
): AsyncGenerator<T, void, void> {
  const narrow = widen(http2StreamOf(call)?.session);
  // Leaving the loop early must not destroy the stream: the error status still has to be sent on it.
  const messages = call.iterator({ destroyOnReturn: false }) as AsyncIterable<T>;
  try {
    for await (const message of messages) {
      if (message instanceof ServiceError) throw message;
      const { chunk } = message as { chunk?: unknown };
      if (chunk instanceof Uint8Array) claim(chunk);
      yield message;
      consumed();
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : cutShort();
  } finally {
    narrow();
  }
  if (await wasReset(call)) throw cutShort();
}

function cutShort(): ServiceError {
  return new ServiceError('CANCELLED', 'the stream was cut short');
}

/**
 * Detects a cancelled stream that looks complete. Node's HTTP/2 client, on which grpc-js is built, ends a stream with
 * END_STREAM before it sends the reset, in a second packet. Without this check, half a file could be stored. The client
 * has queued the reset before it reads what the server sent after END_STREAM, but acknowledges a PING ahead of what is
 * queued: the reset may come right after the first acknowledgement, and has come before the second one. A proxy that ends
 * HTTP/2 answers PINGs itself; then a cancelled stream may still look complete.
 */
async function wasReset(call: ClientStream<unknown>): Promise<boolean> {
  const stream = http2StreamOf(call);
  const isReset = () => call.cancelled || call.destroyed || stream?.closed === true;
  for (let trips = 0; trips < ROUND_TRIPS && !isReset(); trips++) await roundTrip(stream?.session);
  return isReset();
}

/** The PINGs of a session: it allows ten at a time, so calls that come meanwhile share the next one. */
interface Pings {
  current: Promise<void>;
  next: Promise<void> | undefined;
}

const PINGS = Symbol('pings');
type Pinging = Http2Session & { [PINGS]?: Pings };

/** Resolves when the client has acknowledged a PING that was sent after this call. Never rejects. */
function roundTrip(session: Pinging | undefined): Promise<void> {
  if (session === undefined) return ping(undefined);
  session[PINGS] ??= { current: Promise.resolve(), next: undefined };
  const pings = session[PINGS];
  pings.next ??= pings.current.then(() => {
    pings.next = undefined;
    pings.current = ping(session);
    return pings.current;
  });
  return pings.next;
}

function ping(session: Http2Session | undefined): Promise<void> {
  return new Promise((resolve) => {
    const later = () => setTimeout(resolve, RESET_MS);
    if (!session || session.closed || session.destroyed) later();
    else session.ping((error) => (error ? later() : resolve()));
  });
}

/**
 * The HTTP/2 stream of a call. grpc-js keeps it in a private field and reports a reset of it too late. Because of the
 * private field the range of @grpc/grpc-js in package.json is `~`; test/adapters/client-stream.test.ts fails if the
 * field moves.
 */
export function http2StreamOf(call: object): ServerHttp2Stream | undefined {
  return (call as unknown as { call?: { stream?: ServerHttp2Stream } }).call?.stream;
}
