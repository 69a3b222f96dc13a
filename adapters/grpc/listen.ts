import type { AddressInfo } from 'node:net';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import type { ListenerOptions } from '../listener.ts';

/** Part of the connections above which a new one replaces the oldest one without a handshake. */
const CROWDED = 7 / 8;
/** Milliseconds for a client to send the HTTP/2 preface and its SETTINGS; its connection is closed after that. */
const HANDSHAKE_MS = 15_000;
/**
 * Bytes of the preface and of a SETTINGS frame's header (RFC 9113 section 3.4): the shortest first message of a client.
 */
const HANDSHAKE_BYTES = 24 + 9;

interface Acceptor {
  port: number;
  /** Stops accepting connections; open connections stay open. */
  stop(): void;
}

/**
 * Accepts at most `maxConnections` simultaneous connections for `server`. grpc-js has no such limit, so its sockets
 * could use up all file descriptors of the process. Rejects when the address cannot be bound. The caller must call
 * `stop`.
 */
export async function listen(
  server: Server,
  { address: { host, port }, maxConnections, log }: Pick<ListenerOptions, 'address' | 'maxConnections' | 'log'>,
  handshakeMs: number = HANDSHAKE_MS,
): Promise<Acceptor> {
  let open = 0;
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const unready = new Unready(handshakeMs);
  const door = createServer((socket) => {
    unready.add(socket, open++ >= (maxConnections ?? Number.POSITIVE_INFINITY) * CROWDED);
    socket.once('close', () => open--);
    injector.injectConnection(socket);
  });
  if (maxConnections !== undefined) door.maxConnections = maxConnections;
  await listening(door, host === '' ? { port } : { port, host });
  // Emitted when a connection cannot be accepted, for example for lack of descriptors or memory.
  door.on('error', (err) => log.error('connection not accepted', { err }));
  return { port: (door.address() as AddressInfo).port, stop: () => void door.close() };
}

/** Connections whose handshake has not arrived, the oldest first. The threat: they use up the connections. */
class Unready {
  readonly #sockets = new Set<Socket>();
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** `crowded`: the oldest one is closed. */
  add(socket: Socket, crowded: boolean): void {
    if (crowded) this.#closeOldest();
    this.#sockets.add(socket);
    const timer = setTimeout(() => this.#closeUnready(socket), this.#ms);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
  }

  #closeOldest(): void {
    for (const socket of this.#sockets) if (this.#closeUnready(socket)) return;
  }

  #closeUnready(socket: Socket): boolean {
    this.#sockets.delete(socket);
    const unready = socket.bytesRead < HANDSHAKE_BYTES;
    if (unready) socket.destroy();
    return unready;
  }
}

function listening(door: NetServer, address: { port: number; host?: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    door.once('error', reject);
    door.listen(address, () => {
      door.off('error', reject);
      resolve();
    });
  });
}
