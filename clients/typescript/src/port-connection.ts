import type { Api } from './api.ts';
import { operations } from './contract/operations.ts';
import { ConnectionFailedError } from './errors.ts';
import { argumentsOf } from './http/arguments.ts';
import type { CallOptions, WebSocketLike } from './http/call.ts';
import { Queue } from './http/queue.ts';
import { OPEN, socketTo } from './http/socket-to.ts';

/** Bytes that may wait to be sent before `write` waits. */
const MAX_UNSENT = 1024 * 1024;
const LOOK_MS = 5;
const EOF = '{"type":"eof"}';

/**
 * A connection to a program in a sandbox. The loop over it has the bytes that the program sends, and ends when it sends no
 * more; leaving it early closes the connection. What goes wrong throws ConnectionFailedError.
 */
export interface PortConnection extends AsyncIterable<Uint8Array> {
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Nothing more will be written; the other direction goes on. */
  end(): void;
  close(): void;
}

/** Connects to an opened port of a sandbox, whatever the protocol. */
export async function connectPort(
  api: Api,
  sandboxId: string,
  port: number,
  options: CallOptions,
): Promise<PortConnection> {
  const [, call] = argumentsOf('getPort', operations.getPort, { sandboxId, port }, options);
  const path = `/v1/sandboxes/${encodeURIComponent(sandboxId)}/ports/${port}/connect`;
  const open = await socketTo(api, path, '', call);
  return opened(open(), port, call.signal);
}

function opened(socket: WebSocketLike, port: number, signal: AbortSignal | undefined): Promise<PortConnection> {
  socket.binaryType = 'arraybuffer';
  const received = new Queue<Uint8Array>((full) => (full ? socket.pause?.() : socket.resume?.()));
  // A paused socket would not see the server's answer.
  const close = () => {
    socket.resume?.();
    socket.close(1000);
  };
  const failure = (why: string) =>
    new ConnectionFailedError({ message: `the connection to port ${port} ${why}`, operation: 'connectPort' });
  socket.addEventListener('message', ({ data }: { data: string | ArrayBuffer }) => {
    if (typeof data !== 'string') received.push(new Uint8Array(data));
    else if (data === EOF) received.end();
  });
  const send = (frame: string | Uint8Array<ArrayBuffer>) => {
    if (socket.readyState !== OPEN) throw failure('is closed');
    socket.send(frame);
  };
  const connection: PortConnection = {
    async write(bytes) {
      send(new Uint8Array(bytes));
      while (socket.readyState === OPEN && socket.bufferedAmount > MAX_UNSENT) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    end: () => send(EOF),
    close,
    async *[Symbol.asyncIterator]() {
      let ended = false;
      try {
        yield* received.read(() => undefined);
        ended = true;
      } finally {
        if (!ended) close();
      }
    },
  };
  const aborted = () => {
    received.fail(signal?.reason);
    close();
  };
  signal?.addEventListener('abort', aborted, { once: true });
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(connection));
    socket.addEventListener('close', ({ code, reason }: { code: number; reason: string }) => {
      signal?.removeEventListener('abort', aborted);
      const error = signal?.aborted ? signal.reason : failure(`was closed (${code})${reason && `: ${reason}`}`);
      reject(error);
      if (code === 1000) received.end();
      else received.fail(error);
    });
    socket.addEventListener('error', () => undefined);
  });
}
