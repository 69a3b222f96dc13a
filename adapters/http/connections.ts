import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Open connections with the number of their pending responses. `server.close` waits for all connections, and Node's
 * closeIdleConnections skips those that have not received a request yet.
 */
export class Connections {
  readonly #owed = new Map<Socket, number>();
  #closing = false;

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#owed.set(socket, 0);
      socket.once('close', () => this.#owed.delete(socket));
    });
  }

  /** Registers a response when it starts. */
  track(res: ServerResponse): void {
    const { socket } = res;
    if (!socket) return;
    this.#owed.set(socket, (this.#owed.get(socket) ?? 0) + 1);
    res.once('close', () => {
      const owed = this.#owed.get(socket);
      if (owed === undefined) return;
      this.#owed.set(socket, owed - 1);
      if (this.#closing && owed === 1) socket.destroySoon();
    });
  }

  /** Closes connections without a pending response, and from now on every other one after its last response. */
  closeIdle(): void {
    this.#closing = true;
    for (const [socket, owed] of this.#owed) if (owed === 0) socket.destroySoon();
  }
}
