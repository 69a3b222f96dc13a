import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

/**
 * Calls `secured` when the handshake of a connection is complete, with the TCP connection that carries it. Node emits
 * both without a link between them; the addresses and ports of both ends identify an open connection.
 */
export function onSecured(server: Server, secured: (secure: TLSSocket, raw: Socket) => void): void {
  const pending = new Map<string, Socket>();
  server.on('connection', (raw: Socket) => {
    const ends = endsOf(raw);
    pending.set(ends, raw);
    raw.once('close', () => {
      if (pending.get(ends) === raw) pending.delete(ends);
    });
  });
  server.on('secureConnection', (secure) => {
    const ends = endsOf(secure);
    const raw = pending.get(ends);
    pending.delete(ends);
    // The client has disconnected if its address is unknown.
    if (raw === undefined || secure.remotePort === undefined) secure.destroy();
    else secured(secure, raw);
  });
  // Node leaves it to this listener to close a connection whose handshake failed or took too long.
  server.on('tlsClientError', (_, secure) => secure.destroy());
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
