import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A network between a client and a server, which can break. */
export class BrokenNetwork {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #up = true;

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      if (!this.#up) {
        client.destroy();
        return;
      }
      const server = connect(Number(target.port), target.hostname);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
      }
      client.pipe(server).pipe(client);
    });
  }

  static async start(target: string): Promise<BrokenNetwork> {
    const proxy = new BrokenNetwork(new URL(target));
    await new Promise<void>((done) => proxy.#server.listen(0, '127.0.0.1', done));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts every connection. `again`: whether new ones are accepted. */
  cut({ again }: { again: boolean }): void {
    this.#up = again;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.cut({ again: false });
    this.#server.close();
  }
}
