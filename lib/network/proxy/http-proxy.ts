import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Shares } from '../../shares.ts';
import { answer, answerOf, endWithAnswer } from './answers.ts';
import type { Connection } from './connections.ts';
import { contained } from './contained.ts';
import { dial } from './dial.ts';
import { fail, forward, UpstreamAgent } from './forward-request.ts';
import { type Destination, type Gate, Refused, record, refuse } from './gate.ts';
import {
  allowHalfOpen,
  hasTooManyFields,
  limitFields,
  MAX_PIPELINED_BYTES,
  memoryOf,
  sizeOf,
  TOO_MANY_FIELDS,
} from './request-limits.ts';
import { destinationOf, parseAuthority, type RequestTarget, requestTarget } from './request-target.ts';
import { openTunnel, withoutUpgrade } from './upgrade.ts';

/** A connection whose requests are checked. */
export interface HttpClient {
  gate: Gate;
  connection: Connection;
  /** Where the connection goes; undefined: to the proxy. */
  destination: Destination | undefined;
  /** Continues with what is inside of a CONNECT; the answer to it is the receiver's. Only for connections to the proxy. */
  connect(destination: Destination, head: Buffer): void;
}

interface Served extends HttpClient {
  agent: UpstreamAgent;
  /** Settled when the last request is answered. */
  turn: Promise<void>;
  waiting: number;
  /** Characters of the heads of the requests that wait. */
  size: number;
}

const MAX_PIPELINED = 32;
const MAX_HEADER_BYTES = 32_768;
/** Of the requests of one connection that are not answered yet: programs may send many and read nothing. */
const MAX_WAITING_SIZE = 2 * MAX_HEADER_BYTES;
/** Milliseconds. A body may take long, as long as it moves. */
const TIMES = { headers: 20_000, check: 5000, keepAlive: 60_000, idle: 300_000, half: 60_000 };

/**
 * Takes connections of HTTP/1 over, of all sandboxes. Each request is parsed strictly by Node, checked, and written anew:
 * no bytes of a client reach the other side as they came.
 */
export class HttpProxy {
  readonly #server: Server;
  readonly #served = new WeakMap<Socket, Served>();
  readonly #half: number;
  readonly #pipelined = new Shares<Gate>(MAX_PIPELINED_BYTES);

  constructor(times: Partial<typeof TIMES> = {}) {
    const { headers, check, keepAlive, idle, half } = { ...TIMES, ...times };
    this.#server = new Server({
      insecureHTTPParser: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: headers,
      requestTimeout: 0,
      connectionsCheckingInterval: check,
      keepAliveTimeout: keepAlive,
    });
    this.#server.timeout = idle;
    this.#half = half;
    limitFields(this.#server);
    allowHalfOpen(this.#server);
    // Node watches the times of headers from then on; this server gets its connections from others.
    this.#server.emit('listening');
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      contained(request.socket, () => this.#queue(request, response));
    this.#server.on('request', handle).on('checkContinue', handle).on('checkExpectation', handle);
    this.#server.on('upgrade', (request, socket, head) =>
      contained(socket, () => this.#upgrade(request, socket as Socket, head)),
    );
    this.#server.on('connect', (request, socket, head) =>
      contained(socket, () => this.#connect(request, socket as Socket, head)),
    );
    this.#server.on('clientError', (_, socket) => {
      if (!socket.destroyed && socket.writable) this.#refuseInvalid(socket as Socket);
    });
  }

  /** What no parser of Node accepts, or what was not complete in time. */
  #refuseInvalid(socket: Socket): void {
    const sentence = 'the request is not valid HTTP/1.1, or was not complete in time';
    const { gate, connection, destination } = this.#served.get(socket)!;
    const target = connection.target ?? destination ?? { host: undefined, address: '', port: 0 };
    gate.refused(target, 'http', 'bad_request', sentence);
    endWithAnswer(socket, answer(400, 'refused; code=bad_request', sentence));
  }

  /** Ends the watch over times. Connections belong to others. */
  close(): void {
    this.#server.close();
  }

  /** `head`: what was read of the paused socket so far. */
  accept(client: HttpClient, head: Buffer): void {
    const { gate, connection, destination } = client;
    const socket = connection.client;
    const gone = new AbortController();
    socket.once('close', () => gone.abort());
    const agent = new UpstreamAgent(async (to) => {
      const dialled = await dial(gate, to, gone.signal).catch((error: unknown) => {
        if (error instanceof Refused) record(gate, error, connection.target ?? to, 'http');
        throw error;
      });
      connection.hold(dialled.socket);
      connection.reached(dialled.address);
      return dialled.socket;
    }, destination !== undefined);
    socket.once('close', () => agent.destroy());
    // Its program may be gone, or wait for the answer.
    socket.once('end', () => socket.setTimeout(this.#half));
    this.#served.set(socket, { ...client, agent, turn: Promise.resolve(), waiting: 0, size: 0 });
    this.#emit(socket, head);
  }

  #emit(socket: Socket, head: Buffer): void {
    if (head.length > 0) socket.unshift(head);
    this.#server.emit('connection', socket);
    socket.resume();
  }

  /** One request after the other: the other side sees no pipelining. */
  #queue(request: IncomingMessage, response: ServerResponse): void {
    const served = this.#served.get(request.socket)!;
    const size = sizeOf(request);
    const behind = served.waiting === 0 ? 0 : memoryOf(request);
    const isTooMuch = served.waiting >= MAX_PIPELINED || served.size + size > MAX_WAITING_SIZE;
    if (isTooMuch || !this.#pipelined.take(served.gate, behind)) return void request.socket.destroy();
    served.waiting++;
    served.size += size;
    const answered = new Promise<void>((resolve) => response.once('close', resolve));
    const before = served.turn;
    served.turn = answered.then(() => {
      served.size -= size;
      served.waiting--;
    });
    void before.then(() => {
      this.#pipelined.give(served.gate, behind);
      if (!request.socket.destroyed) contained(request.socket, () => this.#handle(served, request, response));
    });
  }

  #handle(served: Served, request: IncomingMessage, response: ServerResponse): void {
    try {
      forward(request, response, this.#check(served, request), served.agent);
    } catch (error) {
      fail(request, response, error);
    }
  }

  /** Throws `Refused`, recorded. */
  #check({ gate, connection, destination: connected }: Served, request: IncomingMessage): RequestTarget {
    const known = connected ?? { host: undefined, address: '', port: 0 };
    try {
      if (hasTooManyFields(request)) throw new Refused('bad_request', TOO_MANY_FIELDS);
      const found = requestTarget(request, connected);
      const { host, address, port } = found.destination;
      const target = { host: host ?? found.claimed, address, port, method: request.method ?? '', path: found.path };
      const decision = gate.decide(target);
      connection.use(target, 'http', decision);
      if (!decision.allowed) throw refuse(decision, target);
      requireNoSecret(gate, request);
      return found;
    } catch (error) {
      if (error instanceof Refused) gate.refused(connection.target ?? known, 'http', error.code, error.message);
      throw error;
    }
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const served = this.#served.get(socket)!;
    // What comes before must be answered before.
    if (served.waiting > 0) return void socket.destroy();
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET';
    // HTTP/2 in it would not be checked. The server may ignore the header, and so does the proxy.
    if (hasTooManyFields(request)) return void this.#refuseInvalid(socket);
    if (!isWebSocket) return void this.#emit(socket, Buffer.concat([withoutUpgrade(request), head]));
    try {
      openTunnel(request, socket, head, { target: this.#check(served, request), agent: served.agent });
    } catch (error) {
      endWithAnswer(socket, answerOf(error));
    }
  }

  #connect(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { gate, connection, destination, connect, waiting } = this.#served.get(socket)!;
    if (waiting > 0) return void socket.destroy();
    socket.on('error', () => undefined);
    const authority = parseAuthority(request.url ?? '');
    if (destination !== undefined || authority === undefined) {
      const error = new Refused('bad_request', 'CONNECT takes host:port, and only on a connection to the proxy');
      return void endWithAnswer(socket, answerOf(error));
    }
    const name = gate.nameOf(authority.host);
    const to = destinationOf({ ...authority, host: name ?? authority.host });
    const decision = gate.decide(to);
    connection.use(to, 'tcp', decision);
    if (decision.allowed) {
      connect(to, head);
    } else {
      gate.refused(to, 'http', decision.code, decision.reason);
      endWithAnswer(socket, answerOf(refuse(decision, to)));
    }
  }
}

/** Over plain HTTP no placeholder is replaced: the request would fail, or show that the program left TLS out. */
function requireNoSecret({ inspector }: Gate, { url = '', rawHeaders }: IncomingMessage): void {
  const secret = inspector?.secretIn([url, ...rawHeaders]);
  if (secret === undefined) return;
  throw new Refused('secret_elsewhere', `the placeholder of the secret "${secret}" was sent over plain HTTP`);
}
