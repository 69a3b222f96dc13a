import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext, TLSSocket } from 'node:tls';
import { Shares } from '../../shares.ts';
import type { InspectedSandbox, InspectedTarget, MakeInspector } from '../proxy/inspector.ts';
import { allowHalfOpen, limitFields, MAX_PIPELINED_BYTES, memoryOf } from '../proxy/request-limits.ts';
import { matchesHost } from '../secrets/hosts.ts';
import { type AuthorityFiles, ServerCertificates } from './authority.ts';
import { MOST_LONG_HEADS_BYTES } from './checked.ts';
import { exchange, type Inspected } from './exchange.ts';
import { secretNamedIn } from './secret-use.ts';
import { upgrade } from './upgrade.ts';
import { Upstream } from './upstream.ts';

const HANDSHAKE_MS = 20_000;
/** Of requests until the end of their headers. */
const HEADERS_MS = 20_000;
/** Without a byte. Longer than clients keep a connection without requests: it is they who close it. */
const IDLE_MS = 300_000;
/** The same, after the program has ended its side. */
const HALF_MS = 60_000;
const WEB_SOCKET_IDLE_MS = 900_000;
const MAX_HEAD_BYTES = 32 * 1024;
/** Requests of one connection that wait for those before them. */
const MAX_PIPELINED = 32;

export interface InspectionOptions {
  authority: AuthorityFiles;
  /** What the certificates of servers are verified by, in PEM; undefined: the authorities that Node has. */
  trusted: string | undefined;
  /** Further authorities, in PEM. */
  extra?: string | undefined;
}

/**
 * Ends TLS connections of sandboxes in place of their servers, and carries out each request on a TLS connection to the
 * real server. Only HTTP/1.1 is spoken, to both.
 */
export function createInspection(
  { authority, trusted, extra }: InspectionOptions,
  idleMs = WEB_SOCKET_IDLE_MS,
): MakeInspector {
  const certificates = new ServerCertificates(authority);
  const ca = [...(trusted === undefined ? rootCertificates : [trusted]), ...(extra ? [extra] : [])];
  let context: SecureContext | undefined;
  const inspected = new WeakMap<object, Inspected>();
  const http = requestReader(inspected);
  const heads = new Shares<InspectedSandbox>(MOST_LONG_HEADS_BYTES);
  return (sandbox) => ({
    needed: (host, policyInspect) =>
      policyInspect || sandbox.secrets().some(({ hosts }) => hosts.some((pattern) => matchesHost(pattern, host))),
    secretIn: (head) => secretNamedIn(head, sandbox.secrets()),
    handle: (socket, head, target, opened) => {
      // Reading all authorities of a host takes some milliseconds.
      context ??= createSecureContext({ ca, minVersion: 'TLSv1.2' });
      const tls = terminate(socket, head, target, certificates);
      const upstream = new Upstream(target, {
        dial: async (signal) => {
          const outside = await sandbox.dial(target, signal);
          opened?.(outside);
          return outside;
        },
        trusted: context,
        // What it answered may still have to be sent.
        ended: () => void each.last.then(() => each.waiting === 0 && tls.end()),
      });
      const each: Inspected = { target, sandbox, upstream, last: Promise.resolve(), waiting: 0, heads, idleMs };
      const end = () => {
        tls.destroy();
        socket.destroy();
        upstream.close();
      };
      socket.once('close', end);
      tls.once('close', end);
      tls.once('error', end);
      // Its program may be gone, or wait for the answer.
      tls.once('end', () => tls.setTimeout(HALF_MS));
      inspected.set(tls, each);
      tls.once('secure', () => {
        // What this library has read, too, not only the parser of the proxy.
        if (String((tls as { servername?: unknown }).servername).toLowerCase() === target.host)
          http.emit('connection', tls);
        else refuseName(tls, sandbox, target);
      });
    },
  });
}

function refuseName(tls: TLSSocket, sandbox: InspectedSandbox, target: InspectedTarget): void {
  sandbox.refused(target, 'sni_mismatch', `the TLS connection has another name than ${target.host}`);
  tls.destroy();
}

function terminate(socket: Socket, head: Buffer, target: InspectedTarget, certificates: ServerCertificates): TLSSocket {
  if (head.length > 0) socket.unshift(head);
  const tls = new TLSSocket(socket, {
    isServer: true,
    ALPNProtocols: ['http/1.1'],
    secureContext: certificates.contextFor(target.host),
    SNICallback: (name, answer) =>
      name.toLowerCase() === target.host
        ? answer(null, certificates.contextFor(target.host))
        : answer(new Error('name')),
  });
  const timer = setTimeout(() => tls.destroy(), HANDSHAKE_MS);
  tls.once('secure', () => clearTimeout(timer));
  tls.once('close', () => clearTimeout(timer));
  return tls;
}

/** Node's own server reads the requests: it is strict about where they end. */
function requestReader(inspected: WeakMap<object, Inspected>): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: 0,
    connectionsCheckingInterval: HEADERS_MS / 4,
    keepAliveTimeout: IDLE_MS,
  });
  server.timeout = IDLE_MS;
  // Node watches the times of headers from then on, although this server gets its connections from others.
  server.emit('listening');
  limitFields(server);
  allowHalfOpen(server);
  const pipelined = new Shares<InspectedSandbox>(MAX_PIPELINED_BYTES);
  // One after the other: the requests of one connection have one connection to the server.
  const inTurn = (request: IncomingMessage, task: (each: Inspected) => Promise<void>) => {
    const each = inspected.get(request.socket)!;
    const behind = each.waiting === 0 ? 0 : memoryOf(request);
    if (each.waiting >= MAX_PIPELINED || !pipelined.take(each.sandbox, behind)) return void request.socket.destroy();
    each.waiting++;
    each.last = each.last.then(async () => {
      pipelined.give(each.sandbox, behind);
      await task(each);
      each.waiting--;
    });
  };
  server.on('request', (request, response) => inTurn(request, (each) => exchange(each, request, response)));
  server.on('upgrade', (request, socket, head) => {
    inTurn(request, (each) => upgrade(each, request, socket, head));
  });
  return server;
}
