import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The open connections and how many answers each still owes. `server.close` waits for all of them, and Node's
 * closeIdleConnections leaves those on which no request has come yet.
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

  /** Call with each response at its start. */
  owes(res: ServerResponse): void {
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

  /** Ends those that owe nothing, and from now on each when it has answered. */
  closeIdle(): void {
    this.#closing = true;
    for (const [socket, owed] of this.#owed) if (owed === 0) socket.destroySoon();
  }
}
