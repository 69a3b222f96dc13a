import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { ServiceError } from '../../../lib/errors.ts';
import { errorCode } from '../../../lib/linux/errno.ts';
import { pacedPipe } from './paced-pipe.ts';
import { ProgramSocket } from './program-socket.ts';
import { requestHeaders } from './request-headers.ts';
import { responseHeaders } from './response-headers.ts';
import { splice } from './splice.ts';
import type { PreviewExchange } from './target.ts';

/** A connection of a request on which nothing moves for so long is cut: 5 minutes. */
const IDLE_MS = 300_000;
/** The rest of a request body whose answer is complete is discarded for so long. */
const REST_MS = 30_000;
const MAX_HEADER_BYTES = 65_536;

/** The program in the sandbox did not answer as a server of HTTP does. */
export class BadGateway extends ServiceError {
  // Without a cause, which would be logged as an error of the host: a program could fill the log.
  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}

/** A kept connection has ended before the answer began. */
export class KeptEnded extends Error {}

/**
 * Whether a request may have a connection that served another one, and leave it to the next: only if the program cannot disagree
 * with this server about where the request or its answer ends. Otherwise an answer could be taken for that of another.
 */
export function mayKeep({ req, head }: Pick<PreviewExchange, 'req' | 'head'>): boolean {
  return req.method === 'GET' && head === undefined && !hasBody(req);
}

/**
 * Carries one request to the program, and its answer back, both at the pace of the slower side. `connection`: a socket of its own,
 * or options of `http.request` if it may keep one (`mayKeep`). Rejects with the error to answer as long as nothing was sent,
 * or with `KeptEnded`: then it can be carried again.
 */
export async function carryRequest(
  exchange: PreviewExchange,
  connection: ProgramSocket | RequestOptions,
): Promise<void> {
  const { req, res, target, isTls, signal } = exchange;
  const own = connection instanceof ProgramSocket ? connection : undefined;
  own?.on('error', () => undefined);
  // A client that does not read the end of an answer. Node replaces it when the connection is used again.
  req.socket.setTimeout(2 * IDLE_MS);
  const headers = requestHeaders(req, target, isTls);
  // Not `close`: a program may end a connection that it is to close before the rest of the body was read, and its answer with it.
  headers.connection = 'keep-alive';
  if (exchange.head !== undefined) Object.assign(headers, { connection: 'Upgrade', upgrade: 'websocket' });
  const sent = requestOn(connection, exchange, headers);
  const cut = () => {
    sent.destroy();
    own?.destroy();
  };
  sent.setTimeout(IDLE_MS, () => sent.destroy(new Error('timeout')));
  signal.addEventListener('abort', cut, { once: true });
  (own ?? sent).once('close', () => signal.removeEventListener('abort', cut));
  res.once('close', cut);
  const answered = answerOf(sent, exchange);
  if (signal.aborted || res.destroyed) cut();
  sendBody(exchange, sent);
  const { answer, head } = await answered;
  if (head === undefined) await sendAnswer(answer, exchange);
  else await splice(exchange, answer, own!, head);
}

function requestOn(
  connection: ProgramSocket | RequestOptions,
  { req, target }: PreviewExchange,
  headers: Record<string, string | string[]>,
): ClientRequest {
  const path = `${target.path || '/'}${target.query === '' ? '' : `?${target.query}`}`;
  const method = req.method ?? 'GET';
  try {
    const way = connection instanceof ProgramSocket ? { createConnection: () => connection } : connection;
    return request({ ...way, method, path, headers, maxHeaderSize: MAX_HEADER_BYTES });
  } catch (error) {
    if (connection instanceof ProgramSocket) connection.destroy();
    throw new ServiceError('INVALID_ARGUMENT', 'the request has characters that HTTP does not allow', [], {
      cause: error,
    });
  }
}

/** The head of the answer; `head`: the first bytes after it, if the program has switched to the WebSocket that was asked for. */
function answerOf(
  sent: ClientRequest,
  { target: { port }, head: asked, signal }: PreviewExchange,
): Promise<{ answer: IncomingMessage; head?: Buffer }> {
  return new Promise((resolve, reject) => {
    sent.once('response', (answer) => resolve({ answer }));
    sent.once('upgrade', (answer, socket, head) => {
      if (asked !== undefined) return resolve({ answer, head });
      // Whatever the client's connection carries next is not for the program: a proxy sends requests of others by it.
      socket.destroy();
      reject(new BadGateway(`the program on port ${port} does not answer with HTTP`));
    });
    sent.on('error', (error) => {
      if (signal.aborted) reject(signal.reason);
      else reject(sent.reusedSocket && hasEnded(error) ? new KeptEnded() : failure(error, port));
    });
    sent.once('close', () => reject(signal.aborted ? signal.reason : failure(undefined, port)));
  });
}

const hasEnded = (error: Error) => ['ECONNRESET', 'EPIPE'].includes(errorCode(error) ?? '');

function failure(error: Error | undefined, port: number): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error?.message === 'timeout')
    return new ServiceError('DEADLINE_EXCEEDED', `the program on port ${port} has not answered for 5 minutes`);
  const isText = errorCode(error)?.startsWith('HPE_');
  const what = isText ? 'does not answer with HTTP' : 'has closed the connection without an answer';
  return new BadGateway(`the program on port ${port} ${what}`);
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;

function sendBody({ req, pace }: PreviewExchange, sent: ClientRequest): void {
  if (!hasBody(req)) {
    sent.end();
    return;
  }
  pacedPipe(req, sent, pace);
  req.once('error', () => sent.destroy());
  // A program may answer before it has read all: the rest is discarded, so that the client reads the answer.
  sent.once('close', () => req.resume());
}

async function sendAnswer(answer: IncomingMessage, { req, res, target, pace }: PreviewExchange): Promise<void> {
  const headers = responseHeaders(answer, target);
  if (!req.complete) res.shouldKeepAlive = false;
  for (const name of Object.keys(headers)) if (res.hasHeader(name)) res.removeHeader(name);
  try {
    res.writeHead(answer.statusCode ?? 0, answer.statusMessage, headers);
  } catch {
    answer.destroy();
    throw new BadGateway(
      `the program on port ${target.port} answers with a status or a header that HTTP does not have`,
    );
  }
  res.flushHeaders();
  pacedPipe(answer, res, pace);
  // What was sent is not the whole answer: the client must see that.
  answer.once('error', () => res.destroy());
  answer.once('aborted', () => res.destroy());
  res.once('finish', () => endRest(req));
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
  });
}

/** A client that goes on sending a body that nobody reads is cut in the end. */
function endRest(req: IncomingMessage): void {
  if (req.complete) return;
  const timer = setTimeout(() => req.socket.destroy(), REST_MS);
  req.socket.once('close', () => clearTimeout(timer));
}
