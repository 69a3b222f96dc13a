import type { IncomingMessage, ServerResponse } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { ServiceError } from '../../../lib/errors.ts';
import { answerError } from '../answer.ts';
import type { Peer } from './peer.ts';

const MAX_FRAME_BYTES = 256 * 1024;
/** Fragments of a message, and pieces of a frame, in which it may arrive. The threat: each costs more than its bytes. */
const MAX_FRAGMENTS = 256;
const MAX_PIECES = 4096;

/** The threat: a client that does not read keeps the server from shutting down. */
export function cutWhenAborted(peer: Peer, signal: AbortSignal): void {
  const cut = () => peer.cutSoon();
  signal.addEventListener('abort', cut, { once: true });
  void peer.closed.then(() => signal.removeEventListener('abort', cut));
  if (signal.aborted) cut();
}

/** Answers with 426 if the client does not ask for a WebSocket. Throws INVALID_ARGUMENT for a wrong handshake. */
export function requireHandshake(req: IncomingMessage, res: ServerResponse, head: Buffer | undefined): head is Buffer {
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

/** Completes the handshake, with the headers that were set for the response. */
export function accept(req: IncomingMessage, res: ServerResponse, head: Buffer): Promise<WebSocket> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_PIECES,
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
