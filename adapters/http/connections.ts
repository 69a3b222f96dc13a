import type { Server, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as AnyTlsServer } from 'node:tls';
import { onSecured } from '../tls/secured.ts';

export type HttpServer = Server | TlsServer;

/** Connections without a pending response, among them those whose request has not arrived completely. */
const MAX_IDLE = 4000;
/** Connections beyond `max` for essential requests, as a part of it, and their upper limit. */
const RESERVE = 1 / 8;
const MAX_RESERVE = 128;
/** Requests of one connection without an answer. Clients that send the next one before the answer to the last are rare. */
const MAX_PIPELINED = 4;

export interface ConnectionLimits {
  /** Those that may be busy at once. */
  max: number;
  /** Idle ones; of more, the one that has been idle longest is closed. */
  maxIdle?: number;
}

/**
 * Open connections with their pending responses. `server.close` waits for all connections, and Node's
 * closeIdleConnections skips those that have not received a request yet. The threat: connections that send nothing, or
 * half a request, use up the server's descriptors and memory. A new connection therefore replaces the one that has been
 * idle longest, and a reserve is left for essential requests when all others are busy. A connection whose TLS handshake
 * is not complete is idle.
 *
 * Of pipelined requests, Node closes only the response that it is sending when the connection closes. The others are
 * closed here, so that every call learns that its client is gone and gives back what it holds. The threat: a packet of 64 KiB has a
 * thousand requests, and Node reads no more only when their answers are written.
 */
export class Connections {
  readonly #owed = new Map<Socket, Set<ServerResponse>>();
  /** Those without a pending response, the one that has been idle longest first. */
  readonly #idle = new Set<Socket>();
  readonly #maxIdle: number;
  readonly #max: number;
  #closing = false;

  constructor(server: HttpServer, { max, maxIdle = MAX_IDLE }: ConnectionLimits) {
    this.#maxIdle = maxIdle;
    this.#max = max;
    if (Number.isFinite(max)) server.maxConnections = max + Math.min(MAX_RESERVE, Math.ceil(max * RESERVE));
    server.on('connection', (socket: Socket) => {
      this.#add(socket);
      this.#replace(socket);
    });
    if (server instanceof AnyTlsServer) {
      onSecured(server, (secure, raw) => {
        this.#forget(raw);
        this.#add(secure);
      });
    }
  }

  /** Whether so many connections have a pending response that only essential requests are served. */
  get isFull(): boolean {
    return this.#owed.size - this.#idle.size > this.#max;
  }

  /** Whether a response is pending on the connection. */
  isOwed(socket: Socket): boolean {
    return (this.#owed.get(socket)?.size ?? 0) > 0;
  }

  /**
   * Registers a response when its request has arrived, which may be before it has the connection for itself. Returns false if the
   * request must be dropped: its connection is closed, because it has too many of them.
   */
  track(res: ServerResponse): boolean {
    const { socket } = res.req;
    const owed = this.#owed.get(socket) ?? new Set();
    if (owed.size >= MAX_PIPELINED) socket.destroy();
    if (socket.destroyed) return false;
    owed.add(res);
    this.#owed.set(socket, owed);
    this.#idle.delete(socket);
    res.once('close', () => {
      owed.delete(res);
      if (owed.size > 0 || !this.#owed.has(socket)) return;
      this.#idle.add(socket);
      if (this.#closing) socket.destroySoon();
    });
    return true;
  }

  /** Closes connections without a pending response, and from now on every other one after its last response. */
  closeIdle(): void {
    this.#closing = true;
    for (const socket of this.#idle) socket.destroySoon();
  }

  #add(socket: Socket): void {
    this.#owed.set(socket, new Set());
    this.#idle.add(socket);
    socket.once('close', () => {
      const owed = this.#owed.get(socket) ?? [];
      this.#forget(socket);
      for (const res of owed) closeQueued(res);
    });
  }

  #forget(socket: Socket): void {
    this.#owed.delete(socket);
    this.#idle.delete(socket);
  }

  /** `added` is the newest of the idle ones. */
  #replace(added: Socket): void {
    if (this.#owed.size <= this.#max && this.#idle.size <= this.#maxIdle) return;
    const [oldest] = this.#idle;
    if (oldest === undefined || oldest === added) return;
    this.#forget(oldest);
    oldest.destroy();
  }
}

/** A response without a socket waits behind another one. */
function closeQueued(res: ServerResponse): void {
  if (res.socket !== null) return;
  res.destroy();
  res.emit('close');
}
