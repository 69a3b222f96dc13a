import { ServiceError } from '../../../lib/errors.ts';

/** First byte of a binary frame. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const REPLAY = 3;

/** A message of the client that is not part of the protocol; `code` is that of the close frame. */
export class FrameError extends ServiceError {
  readonly closeCode: number;

  constructor(closeCode: number, message: string) {
    super('INVALID_ARGUMENT', message);
    this.closeCode = closeCode;
  }
}

/** What a frame of the client says: input as fields of the request's messages, or a ping. */
export type ClientFrame = { input: Record<string, unknown> } | 'ping';

/** Reads a frame of a client. Throws FrameError. */
export function readFrame(data: Buffer, isBinary: boolean): ClientFrame {
  if (!isBinary) return readText(data.toString('utf8'));
  if (data[0] !== STDIN) {
    throw new FrameError(1003, 'a binary frame must begin with the byte 0, for standard input');
  }
  return { input: { stdin: data.subarray(1) } };
}

function readText(text: string): ClientFrame {
  const frame = parse(text);
  switch (frame.type) {
    case 'stdin':
      if (typeof frame.data !== 'string') throw new FrameError(1008, 'a frame of type stdin must have data, a string');
      return { input: { stdin: Buffer.from(frame.data) } };
    case 'eof':
      return { input: { end_stdin: true } };
    case 'resize':
      return { input: { resize: { columns: frame.cols, rows: frame.rows } } };
    case 'signal':
      if (frame.signal === undefined) throw new FrameError(1008, 'a frame of type signal must have a signal');
      return { input: { signal: frame.signal } };
    case 'ping':
      return 'ping';
    default:
      throw new FrameError(1008, 'the type of a text frame must be stdin, eof, resize, signal or ping');
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const frame: unknown = JSON.parse(text);
    if (typeof frame === 'object' && frame !== null) return frame as Record<string, unknown>;
  } catch {
    // The same refusal.
  }
  throw new FrameError(1008, 'a text frame must be a JSON object');
}

/** Output as a binary frame. */
export function outputFrame(data: Uint8Array, stream: string): Buffer {
  return Buffer.concat([Buffer.of(stream === 'stderr' ? STDERR : STDOUT), data]);
}

/** Output of a terminal from before the client came. `end`: the position after it. */
export function replayFrame(data: Uint8Array, end: number): Buffer {
  const head = Buffer.alloc(9);
  head[0] = REPLAY;
  head.writeBigUInt64BE(BigInt(end), 1);
  return Buffer.concat([head, data]);
}
