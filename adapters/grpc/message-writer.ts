import { Metadata, type ServerDuplexStream, type ServerWritableStream } from '@grpc/grpc-js';
import { giveBack } from '../../lib/recycled-buffers.ts';
import { http2StreamOf } from './client-stream.ts';
import { type FramedParts, framedParts } from './data-message.ts';

/** Bytes of data from which on a message is not copied. */
const LARGE = 4096;

export type Sending = ServerWritableStream<object, object> | ServerDuplexStream<object, object>;

export interface MessageWriter {
  /**
   * Sends a message. Resolves when it has been flushed, or for large data the one before, so that one is fetched while one is
   * sent; and when the call was aborted.
   */
  write(message: object): Promise<void>;
  /** Resolves when all messages have been flushed, or the call was aborted. */
  flushed(): Promise<void>;
}

/**
 * At most two messages are written at a time: grpc-js would buffer up to sixteen, which then survive into the old generation
 * and make garbage collection expensive. Large data goes to the HTTP/2 stream as it is, because grpc-js would copy it twice
 * into new buffers. `serialize` encodes a message without its data.
 */
export function messageWriter(
  call: Sending,
  signal: AbortSignal,
  serialize: (message: object) => Buffer,
): MessageWriter {
  // The write callbacks of a cancelled call are not called.
  const waiting = new Set<() => void>();
  signal.addEventListener('abort', () => waiting.forEach((done) => void done()), { once: true });
  const flushed = (send: (done: () => void) => void) =>
    new Promise<void>((resolve) => {
      const done = () => {
        waiting.delete(done);
        resolve();
      };
      waiting.add(done);
      send(done);
    });
  /** Of the message before, if its data is large: grpc-js may not have passed on others yet, which must not be overtaken. */
  let before = Promise.resolve();
  const write = (message: object): Promise<void> => {
    const { data } = message as { data?: unknown };
    const parts = data instanceof Uint8Array && data.length >= LARGE ? framedParts(message, serialize) : undefined;
    const last = before;
    if (parts === undefined) return flushed((done) => call.write(message, () => done()));
    before = flushed((done) => writeParts(call, parts, done));
    return last;
  };
  return {
    write: async (message) => {
      if (!signal.aborted) await write(message);
    },
    flushed: () => before,
  };
}

/**
 * `flushed` is not called if the stream is gone before. If it ends meanwhile, nobody knows whether the connection still has
 * parts of the data to send: Node reports no error then, and the data must not be used again.
 */
function writeParts(call: Sending, { before, data, after }: FramedParts, flushed: () => void): void {
  call.sendMetadata(new Metadata());
  const stream = http2StreamOf(call);
  if (stream === undefined || stream.destroyed || stream.closed) return;
  stream.cork();
  stream.write(before);
  stream.write(data);
  stream.write(after, (error) => {
    if (error) return;
    if (!stream.destroyed) giveBack(data);
    flushed();
  });
  stream.uncork();
}
