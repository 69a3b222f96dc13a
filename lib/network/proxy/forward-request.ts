import { Agent, type ClientRequest, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { errorCode } from '../../linux/errno.ts';
import { answerOf } from './answers.ts';
import type { Destination } from './gate.ts';
import { destinationOf, type RequestTarget } from './request-target.ts';

/** Of one connection; they are written anew on the other side. The last one is of answers of the proxy itself. */
const HOP_BY_HOP = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-paddock-network',
]);
/** Milliseconds without a byte. */
const MAX_IDLE_MS = 300_000;
const MAX_REST_MS = 2000;

/** Opens a checked connection. */
type Dial = (destination: Destination) => Promise<Socket>;

/**
 * The connections of one client connection to the other side: one at a time. `keep`: one stays open for the next request, if
 * all of them go to the same place.
 */
export class UpstreamAgent extends Agent {
  readonly #dial: Dial;

  constructor(dial: Dial, keep: boolean) {
    super({ keepAlive: keep, maxFreeSockets: 1, timeout: MAX_IDLE_MS });
    this.#dial = dial;
  }

  override createConnection(
    options: { host?: string | null; port?: number | string | null },
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#dial(destinationOf({ host: options.host ?? '', port: Number(options.port) })).then(
      (socket) => done?.(null, socket),
      (error: Error) => (done as ((error: Error) => void) | undefined)?.(error),
    );
  }
}

/**
 * The request as it goes to the other side: written anew from what was parsed, so that both sides read the same. `upgrade`:
 * keeps the headers of a change of protocol.
 */
export function startRequest(
  incoming: IncomingMessage,
  { destination, authority, path }: RequestTarget,
  agent: UpstreamAgent,
  upgrade = false,
): ClientRequest {
  const headers = ['Host', authority, ...endToEnd(incoming.rawHeaders)];
  if (upgrade) headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  else if (incoming.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked');
  else if (incoming.headers['content-length'] === undefined && hasBody(incoming)) headers.push('Content-Length', '0');
  const { host, address, port } = destination;
  return open({ agent, host: host ?? address, port, method: incoming.method ?? 'GET', path, headers, setHost: false });
}

/** A body, of which a request without length would have none. */
const hasBody = ({ method }: IncomingMessage) => method === 'POST' || method === 'PUT' || method === 'PATCH';

/** Passes the request on, and its answer back, with back-pressure. Never throws. */
export function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
  agent: UpstreamAgent,
): void {
  const upstream = startRequest(incoming, target, agent);
  let answered = false;
  const failed = (error?: Error) => {
    if (answered) return;
    answered = true;
    incoming.unpipe(upstream);
    // A kept connection that the other side closed meanwhile.
    const isStale = upstream.reusedSocket && errorCode(error) === 'ECONNRESET';
    if (isStale && !hasContent(incoming) && !response.destroyed) forward(incoming, response, target, agent);
    else fail(incoming, response, error);
  };
  upstream.on('response', (answer) => {
    answered = true;
    passBack(answer, response);
  });
  // Once: the client may not read what the other side repeats.
  upstream.once('continue', () => response.writeContinue());
  upstream.on('error', failed).on('close', () => failed());
  response.on('close', () => {
    upstream.destroy();
    if (!incoming.complete) dropRest(incoming);
  });
  incoming.pipe(upstream);
}

/** The rest of a body that nobody wants. A reset would take the answer from the client. */
function dropRest(incoming: IncomingMessage): void {
  incoming.unpipe();
  incoming.resume();
  const limit = setTimeout(() => incoming.socket.destroy(), MAX_REST_MS);
  incoming.once('close', () => clearTimeout(limit));
}

const hasContent = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** The answer that ends in the middle ends the client's connection: it must not look complete. */
export function passBack(answer: IncomingMessage, response: ServerResponse): void {
  try {
    const isChunked = answer.headers['transfer-encoding'] !== undefined;
    const framing = isChunked && response.req.httpVersion !== '1.0' ? ['Transfer-Encoding', 'chunked'] : [];
    const headers = [...endToEnd(answer.rawHeaders), ...framing];
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
  } catch (error) {
    answer.destroy();
    return void fail(response.req, response, error);
  }
  pipeline(answer, response, (error) => error && response.destroy());
}

/** Answers instead of the other side. */
export function fail(incoming: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, headers, body } = answerOf(error);
  if (!incoming.complete) response.setHeader('connection', 'close');
  response.writeHead(status, headers);
  if (incoming.method !== 'HEAD') response.write(body);
  if (incoming.complete) return void response.end();
  // The answer is complete for the client. The connection ends with its body.
  dropRest(incoming);
  incoming.once('close', () => response.end());
}

/** Without those of one connection, and without those that `Connection` names. */
export function endToEnd(raw: readonly string[]): string[] {
  const named = new Set<string>();
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]!.toLowerCase() !== 'connection') continue;
    for (const name of raw[at + 1]!.split(',')) named.add(name.trim().toLowerCase());
  }
  return raw.filter((_, at) => {
    const name = raw[at - (at % 2)]!.toLowerCase();
    return !HOP_BY_HOP.has(name) && !(named.has(name) && name !== 'content-length');
  });
}
