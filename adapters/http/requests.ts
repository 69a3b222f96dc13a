import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Operation } from '../../handlers/index.ts';
import type { Guard } from '../../lib/access/guard.ts';
import { ticketTarget } from '../../lib/access/tickets.ts';
import { fields, rpcs } from '../../lib/contract/schema.ts';
import { CODES, ServiceError } from '../../lib/errors.ts';
import type { Sender } from '../../lib/limits/fair-memory.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import type { Log } from '../../lib/log.ts';
import { idempotencyKeyOf } from '../../lib/retries/idempotency-key.ts';
import type { Credentials, Services } from '../../lib/services.ts';
import type { Turns } from '../../lib/turns.ts';
import { HeldRefusals, isRepeated } from '../held-refusals.ts';
import { type CallAbort, errorFor } from '../listener.ts';
import { clientNameOf } from '../tls/client-name.ts';
import type { AcceptedHosts } from './accepted-host.ts';
import { answerAny, answerError, errorBody, unsentOn } from './answer.ts';
import { respondAttach } from './attach.ts';
import { respondRaw } from './body.ts';
import { respondBytes } from './bytes.ts';
import { refuseCrossOrigin } from './cross-origin.ts';
import { DOCUMENT_METHODS, isDocument, respondDocument } from './documents.ts';
import { respondDownload } from './download.ts';
import { respondEvents } from './events.ts';
import type { Exchange } from './exchange.ts';
import { METHODS_WITH_BODY, respondUnary } from './json.ts';
import { setRateHeaders, setRefusalHeaders } from './limit-headers.ts';
import { answerAndLinger, DiscardPace, hasMuchToCome } from './lingering-close.ts';
import { type Face, MCP_METHODS, McpEndpoint, mcpFace } from './mcp.ts';
import { respondMultipart } from './multipart.ts';
import { readQuery } from './query.ts';
import { parseTarget, type Router } from './router.ts';

const responders: { readonly [K in Operation['kind']]: (exchange: Exchange<K>) => Promise<void> } = {
  unary: respondUnary,
  attach: respondAttach,
  events: respondEvents,
  raw: respondRaw,
  multipart: respondMultipart,
  download: respondDownload,
  bytes: respondBytes,
};

/** One request, its response, and what ends its call. */
export interface Incoming {
  req: IncomingMessage;
  res: ServerResponse;
  /** Present if the client asks for a WebSocket: the first bytes after the request. */
  head?: Buffer | undefined;
  call: CallAbort;
  requestId: string;
}

/** How an error is answered where it differs from the other errors. */
export interface RefusalForm {
  statusOf?: (error: ServiceError) => number;
  /** Sends the error as a page. */
  answerPage?: ((res: ServerResponse, status: number, error: ServiceError) => void) | undefined;
}

/** What the requests of one listener share. */
interface Shared {
  services: Services;
  hosts: AcceptedHosts;
  turns: Turns;
  log: Log;
  /** Whether only essential operations are served. */
  isFull: () => boolean;
  router: Router;
}

/** Operations that are served while all other connections are busy: they show the overload or end it. */
const ESSENTIAL: ReadonlySet<string> = new Set(['Health', 'StopSandbox', 'DestroySandbox']);

/** Responds to the requests of one listener: finds the operation, calls its handler, and encodes the result or error. */
export class Requests {
  readonly #shared: Shared;
  readonly #held = new HeldRefusals();
  readonly #mcp = new McpEndpoint();
  readonly #discards = new DiscardPace();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** Rejects only when the response itself could not be sent; the caller then destroys it. */
  async respond(incoming: Incoming): Promise<void> {
    const { req, res } = incoming;
    const found: { operation?: Operation } = {};
    try {
      this.#shared.hosts.check(req);
      const { path, query } = parseTarget(req.url ?? '/');
      if (isDocument(path)) {
        await this.#document(req, res, path);
        return;
      }
      const face = mcpFace(path);
      if (face) {
        await this.#message(incoming, path, face);
        return;
      }
      const route = this.#shared.router.find(req.method ?? '', path, query);
      if ('allow' in route) {
        answerNoRoute(res, `${req.method} ${path}`, route.allow);
        return;
      }
      found.operation = route.operation;
      if (this.#shared.isFull() && !ESSENTIAL.has(route.operation.operation)) {
        answerFull(res);
        return;
      }
      refuseCrossOrigin(req, route.operation.kind === 'attach');
      const { parameters, lists } = query ? readQuery(query, listsOf(route.operation)) : {};
      const ticket = ticketOf(route.operation, path, query, parameters);
      if (ticket) delete parameters?.ticket;
      const event = {
        // The content type describes `body`, which is not read yet; json.ts sets both.
        headers: { ...req.headers, 'content-type': undefined },
        pathParameters: route.pathParameters,
        ...(parameters && { queryStringParameters: parameters }),
        ...(lists && { queryLists: lists }),
      };
      await this.#carry(incoming, route.operation, event, ticket);
    } catch (thrown) {
      await this.refuse(incoming, found.operation?.operation ?? 'unknown', thrown);
    }
  }

  async #document(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
    if (!DOCUMENT_METHODS.includes(req.method ?? '')) answerNoRoute(res, `${req.method} ${path}`, DOCUMENT_METHODS);
    else if (this.#shared.isFull()) answerFull(res);
    else await respondDocument(req, res, path);
  }

  /** A message of MCP. */
  async #message({ req, res, call, requestId }: Incoming, path: string, face: Face): Promise<void> {
    if (!MCP_METHODS.includes(req.method ?? '')) {
      answerNoRoute(res, `${req.method} ${path}`, MCP_METHODS);
      return;
    }
    if (this.#shared.isFull()) {
      answerFull(res);
      return;
    }
    refuseCrossOrigin(req, false);
    const { services, turns, log } = this.#shared;
    const end = (reason: ServiceError) => call.refuse(reason, () => res.destroy());
    const credentials = () => credentialsOf(req);
    const { signal } = call;
    await this.#mcp.respond({
      req,
      res,
      face,
      services,
      credentials,
      signal,
      requestId,
      held: this.#held,
      turns,
      log,
      end,
    });
  }

  /** The caller is authenticated before the body is read. */
  async #carry(
    { req, res, head, call, requestId }: Incoming,
    operation: Operation,
    event: Exchange['event'],
    ticket: Credentials['ticket'],
  ): Promise<void> {
    const { services, turns, log } = this.#shared;
    const end = (reason: ServiceError) => call.refuse(reason, () => res.destroy());
    const { access, counts } = operation;
    // The URL must not reach other sites, whatever the answer.
    if (ticket) res.setHeader('referrer-policy', 'no-referrer');
    const guard = services.access.admit(() => ({ ...credentialsOf(req), ticket }), access, end, counts);
    setRateHeaders(res, guard.rate);
    const answered = (release: () => void) => {
      if (res.destroyed) release();
      else res.once('close', release);
    };
    const respond = responders[operation.kind] as (exchange: Exchange) => Promise<void>;
    let received: Received | undefined;
    try {
      const idempotencyKey =
        operation.retry === 'key' ? idempotencyKeyOf(req.headersDistinct['idempotency-key'] ?? []) : undefined;
      const context = { requestId, signal: call.signal, guard, services, answered, idempotencyKey };
      const sender = senderOf(req, guard);
      if (mayHaveBody(req, operation)) received = services.received.begin(sender, end);
      const unsent = unsentOn(res, services.received, sender);
      const hasTicket = ticket !== undefined;
      await respond({ req, res, head, operation, event, context, received, unsent, hasTicket, turns, log });
    } finally {
      received?.end();
      guard.release();
    }
  }

  /** Responds with an error. Rejects like `respond`. */
  async refuse(
    { req, res, call, requestId }: Incoming,
    operation: string,
    thrown: unknown,
    { statusOf = (error) => CODES[error.code].http, answerPage }: RefusalForm = {},
  ): Promise<void> {
    const { turns, log } = this.#shared;
    const error = errorFor(thrown, { operation, requestId, signal: call.signal, log });
    const status = statusOf(error);
    // The body of a refused request is not read before its answer.
    await this.#held.hold(error, call.signal);
    if (!res.headersSent) {
      if (error.code === 'UNAUTHENTICATED') res.setHeader('www-authenticate', 'Bearer');
      setRefusalHeaders(res, error);
    }
    if (res.headersSent) {
      res.destroy();
    } else if (hasMuchToCome(req) && !res.destroyed) {
      const pace = isRepeated(error) ? this.#discards : undefined;
      await answerAndLinger({ req, res, signal: call.signal, turns, pace }, status, errorBody(error));
    } else if (answerPage && !res.destroyed) {
      answerPage(res, status, error);
    } else if (!res.destroyed) {
      // An unread rest of a short body would block the next request on this connection.
      req.on('error', () => {}).resume();
      await answerAny(res, status, errorBody(error), turns);
    }
  }
}

/** All values of the headers: Node drops the second of two `authorization` headers. */
function credentialsOf({ headersDistinct, socket }: IncomingMessage): Credentials {
  const { authorization = [], 'x-api-key': apiKey = [] } = headersDistinct;
  return { authorization, apiKey, clientName: () => clientNameOf(socket) };
}

/** Frames of a WebSocket are a body, too. */
function mayHaveBody({ method }: IncomingMessage, { kind }: Operation): boolean {
  return METHODS_WITH_BODY.has(method) || kind === 'attach';
}

function senderOf({ socket }: IncomingMessage, { principal }: Guard): Sender {
  return { owner: principal.owner_id, key: principal.key_id, connection: socket };
}

/** Kinds of operations that a ticket opens by GET: those for clients that cannot send headers. */
const WITH_TICKET: ReadonlySet<Operation['kind']> = new Set(['download', 'bytes', 'events', 'attach']);

/** Whether a field of the operation's request is a list, by its name. */
function listsOf({ operation }: Operation): (name: string) => boolean {
  if (operation === 'Health') return () => false;
  const declared: Readonly<Record<string, { type: string; repeated?: boolean }>> = fields[rpcs[operation].request];
  return (name) => Object.hasOwn(declared, name) && declared[name]?.repeated === true;
}

/** The ticket in the query of a GET request that reads a file or a stream; other operations have no such parameter. */
function ticketOf(
  { method, kind }: Operation,
  path: string,
  query: string,
  parameters: Readonly<Record<string, string>> | undefined,
): Credentials['ticket'] {
  if (method !== 'GET' || !WITH_TICKET.has(kind)) return undefined;
  const value = parameters?.ticket;
  return value === undefined ? undefined : { value, target: ticketTarget(path, query) };
}

/** The body is not read: the connection belongs to the reserve and is closed at once. */
export function answerFull(res: ServerResponse): void {
  res.once('finish', () => res.socket?.destroySoon());
  answerError(res, new ServiceError('RESOURCE_EXHAUSTED', 'all connections of the server are busy'), {
    connection: 'close',
    'retry-after': '1',
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
