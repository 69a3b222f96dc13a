import type { Socket } from 'node:net';

/**
 * Bytes of the preface and of a SETTINGS frame's header (RFC 9113 section 3.4): the shortest first message of a client.
 */
const PREFACE_BYTES = 24 + 9;

/**
 * Connections whose HTTP/2 preface has not arrived, or whose TLS handshake is not complete, the oldest first. The
 * threat: they use up the connections.
 */
export class Unready {
  /** Bytes that the client must have sent. */
  readonly #sockets = new Map<Socket, number>();
  readonly #ms: number;

  /** `ms`: milliseconds for the preface, and as many for the TLS handshake; the connection is closed after that. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** `handshaking`: its TLS handshake is not complete, however much it sends, until it is deleted. */
  add(socket: Socket, handshaking = false): void {
    this.#sockets.set(socket, handshaking ? Number.POSITIVE_INFINITY : PREFACE_BYTES);
    const timer = setTimeout(() => this.#closeUnready(socket), this.#ms);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
  }

  /** Its TLS handshake is complete. */
  delete(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  closeOldest(): void {
    for (const socket of this.#sockets.keys()) if (this.#closeUnready(socket)) return;
  }

  /** Closes those whose TLS handshake is not complete. */
  closeHandshaking(): void {
    for (const [socket, needed] of this.#sockets) if (needed === Number.POSITIVE_INFINITY) socket.destroy();
  }

  #closeUnready(socket: Socket): boolean {
    const needed = this.#sockets.get(socket);
    this.#sockets.delete(socket);
    const unready = needed !== undefined && socket.bytesRead < needed;
    if (unready) socket.destroy();
    return unready;
  }
}
