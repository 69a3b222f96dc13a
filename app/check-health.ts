import { once } from 'node:events';
import { type IncomingMessage, get as requestPlain } from 'node:http';
import { get as requestSecure } from 'node:https';
import { connect } from 'node:tls';
import type { Invocation } from '../lib/config/load.ts';

type Health = Extract<Invocation, { action: 'health' }>;

/** Milliseconds for the answer. */
const ANSWER_MS = 2500;
/** The certificate names the host as clients on other machines know it, so it is not checked. No secret is sent. */
const UNCHECKED = { rejectUnauthorized: false, minVersion: 'TLSv1.3' } as const;

/**
 * Asks the server on this machine for GET /health, at the REST address of the configuration. Exit codes: 0: it serves;
 * 1: it does not. A server that requires client certificates is asked for a TLS handshake only.
 */
export async function checkHealth({ config: { server }, warnings }: Health): Promise<void> {
  for (const warning of warnings) process.stderr.write(`paddock: ${warning}\n`);
  const { httpAddr, tls } = server;
  const address = { host: ownHost(httpAddr.host), port: httpAddr.port, signal: AbortSignal.timeout(ANSWER_MS) };
  try {
    if (tls.clientCa === '') await askHealth(address, tls.certificate !== '');
    else await shakeHands(address);
    process.stdout.write('ok\n');
  } catch (error) {
    const { message } = error as Error;
    const reason = address.signal.aborted ? `no answer within ${ANSWER_MS} ms` : message;
    process.stderr.write(`paddock: the server does not serve ${address.host}:${address.port}: ${reason}\n`);
    process.exitCode = 1;
  }
}

interface OwnAddress {
  host: string;
  port: number;
  signal: AbortSignal;
}

async function askHealth(address: OwnAddress, secure: boolean): Promise<void> {
  const options = { ...address, path: '/health', agent: false };
  const request = secure ? requestSecure({ ...options, ...UNCHECKED }) : requestPlain(options);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.destroy();
  if (response.statusCode !== 200) throw new Error(`GET /health has status ${response.statusCode}`);
}

/** In TLS 1.3 the server has proved its key before it refuses a client without a certificate (RFC 8446 section 4.4). */
async function shakeHands({ host, port, signal }: OwnAddress): Promise<void> {
  const socket = connect({ host, port, ...UNCHECKED });
  try {
    await once(socket, 'secureConnect', { signal });
  } finally {
    socket.on('error', () => undefined).destroy();
  }
}

/** The address at which this machine reaches a listener that is bound to `host`. */
function ownHost(host: string): string {
  if (host === '' || host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
