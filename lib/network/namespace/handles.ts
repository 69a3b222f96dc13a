import { createSocket, type Socket as DgramSocket } from 'node:dgram';
import { createServer, type Server, Socket } from 'node:net';

/**
 * A socket as Node passes it between processes before it becomes a server, a connection or a UDP socket ("net.Native" and
 * "dgram.Native" of Node's messages): nothing is accepted or read until then.
 */
export interface Handle {
  close(): void;
}

/** Connections that wait to be accepted; of a socket that listens already, so this repeats its number. */
const BACKLOG = 1024;

export function serverOf(handle: Handle): Server {
  // Both ends of a connection may be closed on their own, as a copy of it in both directions needs.
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  server.listen(handle, BACKLOG);
  return server;
}

export function datagramSocketOf(handle: Handle, address: string): DgramSocket {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  // Node takes a handle here as it does for a server, which its types do not say.
  (socket.bind as (handle: Handle) => void)(handle);
  return socket;
}

export function socketOf(handle: Handle): Socket {
  const options = { handle, readable: true, writable: true, allowHalfOpen: true };
  return new Socket(options as ConstructorParameters<typeof Socket>[0]);
}

export function closeHandle(handle: Handle): void {
  handle.close();
}
