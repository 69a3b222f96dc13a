import { TLSSocket } from 'node:tls';

/**
 * The common name of the certificate whose key the client has proved to have, and which one of `server.tls.client_ca`
 * has signed. undefined: there is none, or it has not exactly one common name.
 */
export function clientNameOf(socket: unknown): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const name: unknown = socket.getPeerCertificate()?.subject?.CN;
  return typeof name === 'string' && name !== '' ? name : undefined;
}
