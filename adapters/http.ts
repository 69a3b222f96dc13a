import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { operations } from '../handlers/index.ts';
import { ServiceError } from '../lib/errors.ts';
import { Turns } from '../lib/turns.ts';
import { AcceptedHosts } from './http/accepted-host.ts';
import { answerError, errorBody } from './http/answer.ts';
import { asksForWebSocket, responseOn, upgradableRequest } from './http/attach/upgrade.ts';
import { Connections, type HttpServer } from './http/connections.ts';
import { Previews } from './http/previews/previews.ts';
import { Requests } from './http/requests.ts';
import { parseTarget, Router } from './http/router.ts';
import { ABORT_GRACE_MS, CallAbort, type Listener, type ListenerOptions, requestIdFrom } from './listener.ts';
import type { ServerTls } from './tls/server-tls.ts';

const OPTIONS = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  // Interval of the check for slow headers. With the default of 30 s, a limit of 15 s could become 45 s.
  connectionsCheckingInterval: 5_000,
};

/**
 * Starts the REST listener. Resolves when it listens. Rejects when the address cannot be bound. The caller must close
 * the returned Listener.
 */
export async function startHttp({
  address,
  allowedHosts = [],
  services,
  maxConnections = Number.POSITIVE_INFINITY,
  tls,
  operations: served = operations,
  previewDomain,
  log,
}: ListenerOptions): Promise<Listener> {
  const turns = new Turns();
  const hosts = new AcceptedHosts(address.host, allowedHosts);
  const router = new Router(served);
  const calls = new Set<CallAbort>();
  const begin = (req: IncomingMessage, res: ServerResponse, head?: Buffer) => {
    if (!connections.track(res)) return;
    const call = new CallAbort();
    calls.add(call);
    const requestId = requestIdFrom(req.headers['x-request-id']);
    res.setHeader('x-request-id', requestId);
    res.once('close', () => {
      calls.delete(call);
      if (!res.writableFinished) call.clientGone();
    });
    const incoming = { req, res, head, call, requestId };
    const target = previews.targetOf(req);
    const responded = target ? previews.respond(incoming, target) : requests.respond(incoming);
    responded.catch((err: unknown) => {
      // Not even the error response could be sent.
      log.error('response could not be sent', { requestId, err });
      res.destroy();
    });
  };
  const isFull = () => connections.isFull;
  const requests = new Requests({ services, hosts, turns, log, router, isFull });
  const previews = new Previews({ services, hosts, requests, isFull, domain: previewDomain });
  const isUpgradable = (req: IncomingMessage) =>
    previews.targetOf(req) !== undefined || router.has('attach', 'GET', parseTarget(req.url ?? '/').path);
  const server = createHttpServer(tls, isUpgradable, (req, res) => begin(req, res));
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    // A pipelined request, whose responses could not be told apart from frames.
    if (connections.isOwed(socket)) socket.destroy();
    else begin(req, responseOn(req, socket), head);
  });
  const connections = new Connections(server, { max: maxConnections });
  server.headersTimeout = 15_000;
  server.maxHeadersCount = 0; // Node drops fields beyond it, also the length of a body. Their size has a limit.
  // Bodies have an idle limit instead: an upload may take any time as long as data arrives.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  server.on('checkExpectation', refuseExpectation);
  server.on('clientError', answerParseError);
  await listen(server, address);
  // Emitted when a connection cannot be accepted, for example for lack of descriptors or memory.
  server.on('error', (err) => log.error('connection not accepted', { err }));
  return {
    port: (server.address() as AddressInfo).port,
    close: (graceMs) => close(server, connections, calls, graceMs),
  };
}

function createHttpServer(
  tls: ServerTls | undefined,
  isUpgradable: (req: IncomingMessage) => boolean,
  respond: RequestListener,
): HttpServer {
  const options = {
    ...OPTIONS,
    IncomingMessage: upgradableRequest((req) => asksForWebSocket(req) && isUpgradable(req)),
  };
  if (tls === undefined) return createServer(options, respond);
  const server = createTlsServer({ ...options, ...tls.serverOptions('http/1.1') }, respond);
  tls.attach(server);
  return server;
}

function listen(server: HttpServer, { host, port }: ListenerOptions['address']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const listening = () => {
      server.off('error', reject);
      resolve();
    };
    if (host === '') server.listen(port, listening);
    else server.listen(port, host, listening);
  });
}

/** For an Expect header other than 100-continue. */
function refuseExpectation(_: IncomingMessage, res: ServerResponse): void {
  res.setHeader('x-request-id', requestIdFrom(undefined));
  answerError(res, new ServiceError('INVALID_ARGUMENT', 'the header expect must be 100-continue, or absent'), {}, 417);
}

/** A request that could not be parsed, or was too slow, has no response object. Other errors are of the connection. */
function answerParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  const ofRequest = error.code?.startsWith('HPE_') || error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  if (!ofRequest || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const message =
    status === 431
      ? `the request line and the headers must have at most ${maxHeaderSize} bytes`
      : 'this is not a valid HTTP request';
  const body = JSON.stringify(errorBody(new ServiceError('INVALID_ARGUMENT', message)));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () => socket.destroy());
}

async function close(
  server: HttpServer,
  connections: Connections,
  calls: ReadonlySet<CallAbort>,
  graceMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  connections.closeIdle();
  const timers = [
    setTimeout(() => {
      for (const call of calls) call.serverCloses();
    }, graceMs),
    setTimeout(() => server.closeAllConnections(), graceMs + ABORT_GRACE_MS),
  ];
  await closed;
  for (const timer of timers) clearTimeout(timer);
}
