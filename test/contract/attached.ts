import { once } from 'node:events';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import WebSocket from 'ws';
import type { AttachProcessRequest, ProcessEvent } from '../../lib/contract/messages.ts';

export type AttachMessage = Partial<AttachProcessRequest>;

/** A client that is attached to a process. The part of an event that the protocol does not carry is absent. */
export interface AttachedClient {
  send(message: AttachMessage): void;
  /** Until the end; throws what ends them early. */
  events: AsyncIterable<Partial<ProcessEvent>>;
  close(): void;
}

export function attachedOverGrpc(
  call: ClientDuplexStream<object, ProcessEvent>,
  first: AttachMessage,
  events: AsyncIterable<ProcessEvent>,
): AttachedClient {
  call.write(first);
  return { send: (message) => call.write(message), events, close: () => call.cancel() };
}

/** `refused`: reads the answer of a refused handshake. */
export function attachedOverSocket(
  socket: WebSocket,
  refused: (status: number, body: Buffer) => Error,
  failed: (frame: never) => Error,
): AttachedClient {
  const frames: (Partial<ProcessEvent> | Error | undefined)[] = [];
  let wake = () => {};
  const add = (frame: Partial<ProcessEvent> | Error | undefined) => {
    frames.push(frame);
    wake();
  };
  socket.on('message', (data: Buffer, isBinary) => add(isBinary ? output(data) : control(data, failed)));
  socket.on('close', () => add(undefined)).on('error', () => undefined);
  socket.on('unexpected-response', async (_, answer) => {
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    add(refused(answer.statusCode ?? 0, Buffer.concat(pieces)));
  });
  async function* events() {
    for (;;) {
      while (frames.length > 0) {
        const frame = frames.shift();
        if (frame instanceof Error) throw frame;
        if (frame === undefined) return;
        yield frame;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const send = async (message: AttachMessage) => {
    if (socket.readyState === WebSocket.CONNECTING) await once(socket, 'open');
    const { stdin, end_stdin, resize, signal } = message;
    if (stdin) socket.send(Buffer.concat([Buffer.of(0), stdin]));
    if (end_stdin) socket.send('{"type":"eof"}');
    if (resize) socket.send(JSON.stringify({ type: 'resize', cols: resize.columns, rows: resize.rows }));
    if (signal) socket.send(JSON.stringify({ type: 'signal', signal }));
  };
  return { send: (message) => void send(message), events: events(), close: () => socket.close() };
}

function output(frame: Buffer): Partial<ProcessEvent> {
  if (frame[0] === 3) return { data: frame.subarray(9), next: Number(frame.readBigUInt64BE(1)) };
  return { data: frame.subarray(1), stream: frame[0] === 2 ? 'stderr' : 'stdout' };
}

function control(text: Buffer, failed: (frame: never) => Error): Partial<ProcessEvent> | Error {
  const frame = JSON.parse(text.toString());
  switch (frame.type) {
    case 'connected':
      return { attached: { terminal: frame.mode === 'pty', writer: frame.writer, offset: frame.offset } };
    case 'exit':
      return { end: { exit_code: frame.exit_code, reason: frame.end_reason, signal: 0, duration_ms: 0 } };
    case 'gap':
      return { gap: frame.bytes, next: frame.next };
    default:
      return failed(frame as never);
  }
}
