import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import type { ListenerOptions } from '../listener.ts';
import { onSecured } from '../tls/secured.ts';
import type { ServerTls } from '../tls/server-tls.ts';
import { Unready } from './unready.ts';

/** Part of the connections above which a new one replaces the oldest one without a handshake. */
const CROWDED = 7 / 8;
/**
 * Milliseconds for a client to send the HTTP/2 preface and its SETTINGS, and as many for the TLS handshake before that.
 */
const HANDSHAKE_MS = 15_000;

interface Acceptor {
  port: number;
  /** Stops accepting connections; open connections stay open. */
  stop(): void;
}

/**
 * Accepts at most `maxConnections` simultaneous connections for `server`. grpc-js has no such limit, so its sockets
 * could use up all file descriptors of the process. With `tls` the server gets connections whose TLS handshake is
 * complete; nothing is served in plain text. Rejects when the address cannot be bound. The caller must call `stop`.
 */
export async function listen(
  server: Server,
  {
    address: { host, port },
    maxConnections,
    tls,
    log,
  }: Pick<ListenerOptions, 'address' | 'maxConnections' | 'tls' | 'log'>,
  handshakeMs: number = HANDSHAKE_MS,
): Promise<Acceptor> {
  let open = 0;
  // The credentials describe what the server gets: the decrypted connection.
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const unready = new Unready(handshakeMs);
  const enter = (socket: Socket) => {
    unready.add(socket);
    injector.injectConnection(socket);
  };
  const door = tls ? tlsDoor(tls, unready, enter) : createServer(enter);
  door.prependListener('connection', (socket: Socket) => {
    if (open++ >= (maxConnections ?? Number.POSITIVE_INFINITY) * CROWDED) unready.closeOldest();
    socket.once('close', () => open--);
  });
  if (maxConnections !== undefined) door.maxConnections = maxConnections;
  await listening(door, host === '' ? { port } : { port, host });
  // Emitted when a connection cannot be accepted, for example for lack of descriptors or memory.
  door.on('error', (err) => log.error('connection not accepted', { err }));
  return {
    port: (door.address() as AddressInfo).port,
    stop: () => {
      door.close();
      unready.closeHandshaking();
    },
  };
}

/** Calls `enter` with the decrypted connection of each client that speaks HTTP/2. */
function tlsDoor(tls: ServerTls, unready: Unready, enter: (socket: TLSSocket) => void): NetServer {
  const door = createTlsServer(tls.serverOptions('h2'));
  tls.attach(door);
  door.on('connection', (raw: Socket) => unready.add(raw, true));
  onSecured(door, (secure, raw) => {
    unready.delete(raw);
    // grpc-js would answer HTTP/1.1 to a client that did not negotiate HTTP/2.
    if (secure.alpnProtocol === 'h2') enter(secure);
    else secure.destroy();
  });
  return door;
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
