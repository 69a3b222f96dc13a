import { readFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import type { KeyPair } from '../certificates.ts';
import { rpcOf } from './clients.ts';

/** The certificate and key of a client, for the options of Node's clients. */
export function identity({ certificate, key }: KeyPair): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(certificate), key: readFileSync(key) };
}

export interface Answer {
  status: number;
  body: string;
}

/** One REST request on a connection of its own. Rejects if the connection fails. */
export async function restCall(port: number, options: RequestOptions, body?: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, agent: false, ...options }, (response) => {
      text(response).then((received) => resolve({ status: response.statusCode ?? 0, body: received }), reject);
    });
    call.once('error', reject);
    call.end(body);
  });
}

/** One unary call over a connection of its own. `identity`: the client's certificate. */
export async function grpcCall(
  port: number,
  authority: string,
  method: string,
  given: { request?: object; identity?: KeyPair; headers?: Record<string, string> } = {},
): Promise<unknown> {
  const own = given.identity && identity(given.identity);
  const secure = credentials.createSsl(readFileSync(authority), own?.key ?? null, own?.cert ?? null);
  const client = new Client(`127.0.0.1:${port}`, secure, {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.ssl_target_name_override': 'localhost',
  });
  const { path, requestSerialize, responseDeserialize } = rpcOf(method);
  try {
    return await new Promise((resolve, reject) => {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(given.headers ?? {})) metadata.set(name, value);
      const request = given.request ?? {};
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
  } finally {
    client.close();
  }
}

/** Completes a TLS handshake, and resolves with the connection, or with the error that ended it. */
export function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket | Error> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', resolve);
    socket.once('close', () => resolve(new Error('closed')));
  });
}

/** Sends bytes without TLS, and resolves with the answer when the server has closed the connection. */
export function sendPlain(port: number, bytes: string | Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket = connectPlain(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (data) => received.push(data));
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(received)));
  });
}
