import type { AddressInfo } from 'node:net';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { type Server, ServerCredentials } from '@grpc/grpc-js';
import type { ListenerOptions } from '../listener.ts';

/** A connection on which the client's HTTP/2 preface and SETTINGS have not come by then is closed. */
const HANDSHAKE_MS = 15_000;
/** The preface and the head of a SETTINGS frame (RFC 9113 section 3.4): the least that a client sends first. */
const HANDSHAKE_BYTES = 24 + 9;

interface Door {
  port: number;
  /** Accepts no more connections; those that are open stay. */
  stop(): void;
}

/**
 * Accepts connections for `server`, at most `maxConnections` at a time: grpc-js itself has no such limit, and its sockets
 * could take every descriptor of the process. Rejects when the address cannot be had.
 */
export async function listen(
  server: Server,
  { address: { host, port }, maxConnections, log }: Pick<ListenerOptions, 'address' | 'maxConnections' | 'log'>,
  handshakeMs: number = HANDSHAKE_MS,
): Promise<Door> {
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const door = createServer((socket) => {
    closeUnlessBegun(socket, handshakeMs);
    injector.injectConnection(socket);
  });
  if (maxConnections !== undefined) door.maxConnections = maxConnections;
  await opened(door, host === '' ? { port } : { port, host });
  // A connection that cannot be accepted: short of descriptors or memory.
  door.on('error', (err) => log.error('a connection was not accepted', { err }));
  return { port: (door.address() as AddressInfo).port, stop: () => void door.close() };
}

function closeUnlessBegun(socket: Socket, ms: number): void {
  const timer = setTimeout(() => {
    if (socket.bytesRead < HANDSHAKE_BYTES) socket.destroy();
  }, ms);
  socket.once('close', () => clearTimeout(timer));
}

function opened(door: NetServer, address: { port: number; host?: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    door.once('error', reject);
    door.listen(address, () => {
      door.off('error', reject);
      resolve();
    });
  });
}
