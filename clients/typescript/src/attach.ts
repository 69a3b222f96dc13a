import type { Api } from './api.ts';
import { operations } from './contract/operations.ts';
import { CODES, ConflictError, ConnectionFailedError, PaddockError } from './errors.ts';
import { argumentsOf } from './http/arguments.ts';
import type { CallOptions, WebSocketLike } from './http/call.ts';
import { Queue } from './http/queue.ts';
import { OPEN, socketTo } from './http/socket-to.ts';

/** What an attached client gets: output, and the last event, the end. */
export type AttachEvent =
  | { readonly type: 'connected'; readonly terminal: boolean; readonly writer: boolean; readonly offset: number }
  | {
      readonly type: 'output';
      readonly stream: 'stdout' | 'stderr';
      readonly data: Uint8Array;
      readonly replay: boolean;
    }
  | { readonly type: 'gap'; readonly missing: number }
  | { readonly type: 'exit'; readonly exitCode: number; readonly endReason: string };

export interface AttachOptions extends CallOptions {
  /** First byte of the output to send; 0: the beginning. */
  offset?: number | undefined;
  /** Become the one that may write, in place of another one. */
  takeover?: boolean | undefined;
}

/**
 * A connection to a process. Leaving the loop over its events closes it; the process goes on. What is sent after its end
 * throws ConnectionFailedError. The loop ends with ConflictError when another client becomes the writer.
 */
export interface Attachment extends AsyncIterable<AttachEvent> {
  /** Bytes of input that are not yet sent, because the process does not read. */
  readonly unsent: number;
  write(input: string | Uint8Array): void;
  resize(columns: number, rows: number): void;
  signal(name: string): void;
  /** Ends standard input; types ^D in a terminal. */
  end(): void;
  close(): void;
}

/** The other fields are of later messages. */
const ROW = { ...operations.attachProcess, fields: 'sandboxId! processId! offset takeover' };

interface Ids {
  sandboxId: string;
  processId: string;
}

export async function attach(api: Api, { sandboxId, processId }: Ids, options: AttachOptions): Promise<Attachment> {
  const [{ offset = 0, takeover = false }, call] = argumentsOf('attachProcess', ROW, { sandboxId, processId }, options);
  const path = `/v1/sandboxes/${encodeURIComponent(sandboxId)}/processes/${encodeURIComponent(processId)}/attach`;
  const open = await socketTo(api, path, `offset=${offset}&takeover=${takeover}`, call);
  return opened(open(), call.signal);
}

function opened(socket: WebSocketLike, signal: AbortSignal | undefined): Promise<Attachment> {
  socket.binaryType = 'arraybuffer';
  const events = new Queue<AttachEvent>((full) => (full ? socket.pause?.() : socket.resume?.()));
  // A paused socket would not see the server's answer.
  const close = () => {
    socket.resume?.();
    socket.close(1000);
  };
  socket.addEventListener('message', ({ data }: { data: string | ArrayBuffer }) => {
    try {
      events.push(typeof data === 'string' ? control(data) : output(new Uint8Array(data)));
    } catch (error) {
      events.fail(error);
    }
  });
  // A socket that is not open drops what it is given, silently.
  const send = (frame: string | Uint8Array<ArrayBuffer>) => {
    if (socket.readyState !== OPEN) {
      throw new ConnectionFailedError({
        message: 'the connection to the process is closed',
        operation: 'attachProcess',
      });
    }
    socket.send(frame);
  };
  const sendJson = (frame: object) => send(JSON.stringify(frame));
  const attachment: Attachment = {
    get unsent() {
      return socket.bufferedAmount;
    },
    write(input) {
      const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
      const frame = new Uint8Array(bytes.length + 1);
      frame.set(bytes, 1);
      send(frame);
    },
    resize: (cols, rows) => sendJson({ type: 'resize', cols, rows }),
    signal: (name) => sendJson({ type: 'signal', signal: name }),
    end: () => sendJson({ type: 'eof' }),
    close,
    [Symbol.asyncIterator]: () => events.read(close),
  };
  const aborted = () => {
    events.fail(signal?.reason);
    close();
  };
  signal?.addEventListener('abort', aborted, { once: true });
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(attachment));
    socket.addEventListener('close', ({ code, reason }: { code: number; reason: string }) => {
      signal?.removeEventListener('abort', aborted);
      const message = `the connection to the process was closed (${code})${reason && `: ${reason}`}`;
      const error = signal?.aborted ? signal.reason : closedError(code, message);
      reject(error);
      if (code === 1000) events.end();
      else events.fail(error);
    });
    socket.addEventListener('error', () => undefined);
  });
}

/** Close code: another client has become the writer. */
const TAKEN_OVER = 4001;

function closedError(code: number, message: string): PaddockError {
  const operation = 'attachProcess';
  if (code !== TAKEN_OVER) return new ConnectionFailedError({ message, operation });
  return new ConflictError({ code: 'ABORTED', message: 'another client has taken over the process', operation });
}

const REPLAY = 3;

/** A binary frame of output: see docs/processes.md. */
function output(frame: Uint8Array): AttachEvent {
  const replay = frame[0] === REPLAY;
  const stream = frame[0] === 2 ? 'stderr' : 'stdout';
  return { type: 'output', stream, data: frame.subarray(replay ? 9 : 1), replay };
}

function control(text: string): AttachEvent {
  const frame = JSON.parse(text);
  switch (frame.type) {
    case 'connected':
      return { type: 'connected', terminal: frame.mode === 'pty', writer: frame.writer, offset: frame.offset };
    case 'gap':
      return { type: 'gap', missing: frame.bytes };
    case 'exit':
      return { type: 'exit', exitCode: frame.exit_code, endReason: frame.end_reason };
    default: {
      const { code, message, details } = frame;
      throw new PaddockError({ code: CODES[code] ?? 'UNKNOWN', message, details, operation: 'attachProcess' });
    }
  }
}
