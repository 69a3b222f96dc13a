import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Operation, operations } from '../handlers/index.ts';
import { CODES, ServiceError } from '../lib/errors.ts';
import { Turns } from '../lib/turns.ts';
import { AcceptedHosts } from './http/accepted-host.ts';
import { answerAny, answerError, errorBody } from './http/answer.ts';
import { respondRaw } from './http/body.ts';
import { respondBytes } from './http/bytes.ts';
import { Connections } from './http/connections.ts';
import { refuseCrossOrigin } from './http/cross-origin.ts';
import { respondDownload } from './http/download.ts';
import { respondEvents } from './http/events.ts';
import type { Exchange } from './http/exchange.ts';
import { respondUnary } from './http/json.ts';
import { answerAndLinger, hasMuchToCome } from './http/lingering-close.ts';
import { respondMultipart } from './http/multipart.ts';
import { parseTarget, Router } from './http/router.ts';
import { CallAbort, errorFor, type Listener, type ListenerOptions, requestIdFrom } from './listener.ts';

const carriers: { readonly [K in Operation['kind']]: (exchange: Exchange<K>) => Promise<void> } = {
  unary: respondUnary,
  events: respondEvents,
  raw: respondRaw,
  multipart: respondMultipart,
  download: respondDownload,
  bytes: respondBytes,
};

const OPTIONS = {
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
  // Interval of the check for slow headers. With the default of 30 s, a limit of 15 s could become 45 s.
  connectionsCheckingInterval: 5_000,
};

/** Milliseconds between aborting a call and closing its connection, for the call to send its response. */
const ABORT_GRACE_MS = 1000;

/**
 * Starts the REST listener. Resolves when it listens. Rejects when the address cannot be bound. The caller must close
 * the returned Listener.
 */
export async function startHttp({
  address,
  allowedHosts = [],
  services,
  maxConnections,
  log,
}: ListenerOptions): Promise<Listener> {
  const router = new Router(operations);
  const hosts = new AcceptedHosts(address.host, allowedHosts);
  const calls = new Set<CallAbort>();
  const turns = new Turns();

  const serve = async (req: IncomingMessage, res: ServerResponse, call: CallAbort, requestId: string) => {
    let name = 'unknown';
    try {
      hosts.check(req);
      const { path, query } = parseTarget(req.url ?? '/');
      const found = router.find(req.method ?? '', path, query);
      if ('allow' in found) return answerNoRoute(res, `${req.method} ${path}`, found.allow);
      const { operation, pathParameters } = found;
      name = operation.operation;
      refuseCrossOrigin(req);
      const event = {
        // The content type describes `body`, which is not read yet; json.ts sets both.
        headers: { ...req.headers, 'content-type': undefined },
        pathParameters,
        ...(query ? { queryStringParameters: Object.fromEntries(new URLSearchParams(query)) } : {}),
      };
      const answered = (release: () => void) => {
        if (res.closed) release();
        else res.once('close', release);
      };
      const context = { requestId, signal: call.signal, services, answered };
      const carry = carriers[operation.kind] as (exchange: Exchange) => Promise<void>;
      await carry({ req, res, operation, event, context, turns, log });
    } catch (thrown) {
      const error = errorFor(thrown, { operation: name, requestId, signal: call.signal, log });
      const status = CODES[error.code].http;
      if (res.headersSent) res.destroy();
      else if (res.destroyed) return;
      else if (hasMuchToCome(req))
        await answerAndLinger({ req, res, signal: call.signal, turns }, status, errorBody(error));
      else {
        // An unread rest of a short body would block the next request on this connection.
        req.on('error', () => {}).resume();
        await answerAny(res, status, errorBody(error), turns);
      }
    }
  };

  const server = createServer(OPTIONS, (req, res) => {
    const call = new CallAbort();
    calls.add(call);
    connections.track(res);
    const requestId = requestIdFrom(req.headers['x-request-id']);
    res.setHeader('x-request-id', requestId);
    res.once('close', () => {
      calls.delete(call);
      if (!res.writableFinished) call.clientGone();
    });
    serve(req, res, call, requestId).catch((err: unknown) => {
      // Not even the error response could be sent.
      log.error('response could not be sent', { requestId, err });
      res.destroy();
    });
  });
  const connections = new Connections(server);
  server.headersTimeout = 15_000;
  // Bodies have an idle limit instead: an upload may take any time as long as data arrives.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  server.on('clientError', answerParseError);
  await listen(server, address);
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  // Emitted when a connection cannot be accepted, for example for lack of descriptors or memory.
  server.on('error', (err) => log.error('connection not accepted', { err }));
  return {
    port: (server.address() as AddressInfo).port,
    close: (graceMs) => close(server, connections, calls, graceMs),
  };
}

function listen(server: Server, { host, port }: ListenerOptions['address']): Promise<void> {
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

function answerNoRoute(res: ServerResponse, what: string, allow: string[]): void {
  const shown = what.slice(0, 200);
  if (allow.length === 0) {
    answerError(res, new ServiceError('NOT_FOUND', `there is no ${shown}`));
    return;
  }
  const error = new ServiceError('UNIMPLEMENTED', `there is no ${shown}; this path has ${allow.join(', ')}`);
  answerError(res, error, { allow: allow.join(', ') }, 405);
}

/** A request that could not be parsed has no response object. */
function answerParseError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify(errorBody(new ServiceError('INVALID_ARGUMENT', 'this is not a valid HTTP request')));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nconnection: close\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () => socket.destroy());
}

async function close(
  server: Server,
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
