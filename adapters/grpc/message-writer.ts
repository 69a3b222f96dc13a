import { Metadata, type ServerDuplexStream, type ServerWritableStream } from '@grpc/grpc-js';
import { giveBack } from '../../lib/recycled-buffers.ts';
import { http2StreamOf } from './client-stream.ts';
import { type FramedParts, framedParts } from './data-message.ts';

/** Bytes of data from which on a message is not copied. */
const LARGE = 4096;

export type Sending = ServerWritableStream<object, object> | ServerDuplexStream<object, object>;

/**
 * Returns a function that sends one message and resolves when it has been flushed, or when the call was aborted. Only
 * one message is written at a time: grpc-js would buffer up to sixteen, which then survive into the old generation and
 * make garbage collection expensive. Large data goes to the HTTP/2 stream as it is, because grpc-js would copy it twice
 * into new buffers. `serialize` encodes a message without its data.
 */
export function messageWriter(
  call: Sending,
  signal: AbortSignal,
  serialize: (message: object) => Buffer,
): (message: object) => Promise<void> {
  let wake = () => {};
  // The write callbacks of a cancelled call are not called.
  signal.addEventListener('abort', () => wake(), { once: true });
  return (message) =>
    new Promise((resolve) => {
      wake = resolve;
      if (signal.aborted) return resolve();
      const { data } = message as { data?: unknown };
      const parts = data instanceof Uint8Array && data.length >= LARGE ? framedParts(message, serialize) : undefined;
      if (parts === undefined) call.write(message, () => resolve());
      else writeParts(call, parts, resolve);
    });
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
