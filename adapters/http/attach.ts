import type { IncomingMessage, ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ProcessEvent } from '../../lib/contract/messages.ts';
import { type Code, ServiceError } from '../../lib/errors.ts';
import { errorFor } from '../listener.ts';
import { answerError, errorBody } from './answer.ts';
import { FrameError, readFrame } from './attach/frames.ts';
import { OutputFrames } from './attach/output.ts';
import { Peer } from './attach/peer.ts';
import { attachQuery } from './attach/query.ts';
import type { Exchange } from './exchange.ts';

const MAX_FRAME_BYTES = 256 * 1024;

/**
 * Carries an attach over a WebSocket. An error before the first message of the output is sent as a status, like that of
 * any other request; a later one is an `error` frame and a close code.
 */
export async function respondAttach(exchange: Exchange<'attach'>): Promise<void> {
  const { req, res, head, operation, event, context, log } = exchange;
  if (!requireHandshake(req, res, head)) return;
  const { query, pty } = attachQuery(event.queryStringParameters ?? {});
  let open: (peer: Peer | undefined) => void = () => {};
  const opened = new Promise<Peer | undefined>((resolve) => {
    open = resolve;
  });
  const stream = inputOf(opened);
  const output = await operation.handler({ ...event, queryStringParameters: query, stream }, context);
  const messages = output[Symbol.asyncIterator]() as AsyncIterator<ProcessEvent>;
  const first = await messages.next();
  let peer: Peer | undefined;
  try {
    requireMode(pty, first.value?.attached?.terminal);
    peer = new Peer(await accept(req, res, head));
    cutWhenAborted(peer, context.signal);
  } finally {
    open(peer);
    if (peer === undefined) await messages.return?.();
  }
  try {
    await sendAll(peer, first, messages);
    peer.close(1000, 'the process has ended');
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log });
    const body = errorBody(error);
    await peer.send(JSON.stringify({ type: 'error', ...body }));
    peer.close(closeCodeOf(error), body.message);
  }
  await peer.closed;
}

/** The threat: a client that does not read keeps the server from shutting down. */
function cutWhenAborted(peer: Peer, signal: AbortSignal): void {
  const cut = () => peer.cutSoon();
  signal.addEventListener('abort', cut, { once: true });
  void peer.closed.then(() => signal.removeEventListener('abort', cut));
  if (signal.aborted) cut();
}

/** Answers with 426 if the client does not ask for a WebSocket. Throws INVALID_ARGUMENT for a wrong handshake. */
function requireHandshake(req: IncomingMessage, res: ServerResponse, head: Buffer | undefined): head is Buffer {
  if (head === undefined) {
    const error = new ServiceError(
      'INVALID_ARGUMENT',
      'this path is a WebSocket: send GET without a body, with the headers upgrade: websocket and connection: upgrade',
    );
    answerError(
      res,
      error,
      { upgrade: 'websocket', connection: res.shouldKeepAlive ? 'upgrade' : 'upgrade, close' },
      426,
    );
    return false;
  }
  if (req.headers['sec-websocket-version'] !== '13') {
    res.setHeader('sec-websocket-version', '13');
    throw new ServiceError('INVALID_ARGUMENT', 'the header sec-websocket-version must be 13');
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(req.headers['sec-websocket-key'] ?? ''))
    throw new ServiceError('INVALID_ARGUMENT', 'the header sec-websocket-key must be 16 bytes as base64');
  return true;
}

/** OpenSandbox's parameter chooses the mode; here the process has it from its start. */
function requireMode(pty: boolean | undefined, terminal: boolean | undefined): void {
  if (pty === undefined || terminal === undefined || pty === terminal) return;
  const has = terminal ? 'has a terminal' : 'has no terminal';
  throw new ServiceError('FAILED_PRECONDITION', `pty must be ${terminal ? 1 : 0}, or absent: the process ${has}`);
}

/** Completes the handshake, with the headers that were set for the response. */
function accept(req: IncomingMessage, res: ServerResponse, head: Buffer): Promise<WebSocket> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    // One frame in each turn of the event loop, so that a flood of small frames delays no other call.
    allowSynchronousEvents: false,
    handleProtocols: () => false,
  });
  server.once('headers', (headers) => {
    for (const [name, value] of Object.entries(res.getHeaders())) headers.push(`${name}: ${value}`);
  });
  return new Promise((resolve, reject) => {
    res.once('close', () => reject(new ServiceError('CANCELLED', 'the client disconnected')));
    server.handleUpgrade(req, req.socket, head, resolve);
  });
}

/** The client's frames as messages of the request's type. */
async function* inputOf(opened: Promise<Peer | undefined>): AsyncGenerator<object, void, void> {
  const peer = await opened;
  for await (const { data, isBinary } of peer?.messages ?? []) {
    const frame = readFrame(data, isBinary);
    if (frame === 'ping') peer?.sendIfRead('{"type":"pong"}');
    else yield frame.input;
  }
}

async function sendAll(
  peer: Peer,
  first: IteratorResult<ProcessEvent>,
  messages: AsyncIterator<ProcessEvent>,
): Promise<void> {
  const frames = new OutputFrames();
  for (let next = first; !next.done; next = await messages.next()) {
    const frame = frames.next(next.value);
    // The next message is produced when this one was sent: a slow client reads the log at its own position.
    if (frame !== undefined) await peer.send(frame);
    if (!peer.isOpen) {
      await messages.return?.();
      return;
    }
  }
}

const CLOSE_CODES: { readonly [C in Code]?: number } = {
  // Another client took over the input.
  ABORTED: 4001,
  UNAVAILABLE: 1001,
  RESOURCE_EXHAUSTED: 1013,
  INTERNAL: 1011,
};

function closeCodeOf(error: ServiceError): number {
  return error instanceof FrameError ? error.closeCode : (CLOSE_CODES[error.code] ?? 1008);
}
