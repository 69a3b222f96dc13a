import { connect } from 'node:net';
import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  type ServiceError as GrpcError,
  Metadata,
} from '@grpc/grpc-js';
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { protos } from '../../adapters/grpc/protos.ts';
import { startGrpc } from '../../adapters/grpc.ts';
import { startHttp } from '../../adapters/http.ts';
import type { ListenerOptions } from '../../adapters/listener.ts';
import { type Log, silentLog } from '../../lib/log.ts';
import type { Services } from '../../lib/services.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };

export interface Rest {
  url: string;
  port: number;
  json(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown; headers: Headers }>;
  close(graceMs?: number): Promise<void>;
}

/** Starts the REST adapter with `services` on a free port. */
export async function restOver(
  services: Services,
  log: Log = silentLog,
  options: Pick<ListenerOptions, 'operations' | 'maxConnections' | 'previewDomain'> = {},
): Promise<Rest> {
  const { port, close } = await startHttp({ address: LOOPBACK, services, log, ...options });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    close: (graceMs = 0) => close(graceMs),
    async json(method, path, body) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const init = body === undefined ? {} : { body: text, headers: { 'content-type': 'application/json' } };
      const answer = await fetch(url + path, { method, ...init });
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    },
  };
}

/** Sends raw bytes, and resolves with the complete response when the server closes the connection. */
export function rawRequest(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.on('close', () => resolve(received));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve(received) : reject(error),
    );
  });
}

export interface Rpc {
  port: number;
  client: Client;
  unary<T = unknown>(method: string, request: object, metadata?: Metadata): Promise<T>;
  /** Like `unary`, for a call that may be cancelled. */
  start(
    method: string,
    request: object,
    metadata: Metadata,
    done: (error: GrpcError | null, value?: unknown) => void,
  ): ClientUnaryCall;
  stream(
    method: string,
    request: object,
    options?: { deadline?: number },
    metadata?: Metadata,
  ): ClientReadableStream<object>;
  upload(done: (error: GrpcError | null, value?: unknown) => void): ClientWritableStream<object>;
  duplex(method: string): ClientDuplexStream<object, object>;
  close(graceMs?: number): Promise<void>;
}

/** Starts the gRPC adapter with `services`, and a client of it. Methods are `package.Service/Method`. */
export async function grpcOver(services: Services, log: Log = silentLog): Promise<Rpc> {
  const { port, close } = await startGrpc({ address: LOOPBACK, services, log });
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    'grpc.use_local_subchannel_pool': 1,
  });
  return {
    port,
    client,
    unary: (method, request, metadata = new Metadata()) =>
      new Promise((resolve, reject) => {
        if (metadata.get('x-max-answer-bytes').length === 0) metadata.set('x-max-answer-bytes', String(2 ** 31 - 1));
        const { path, requestSerialize, responseDeserialize } = rpcOf(method);
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error, value) =>
          error ? reject(error) : resolve(value as never),
        );
      }),
    start: (method, request, metadata, done) => {
      const { path, requestSerialize, responseDeserialize } = rpcOf(method);
      return client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, done);
    },
    stream: (method, request, options = {}, metadata = new Metadata()) => {
      const { path, requestSerialize, responseDeserialize } = rpcOf(method);
      return client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata, options);
    },
    upload: (done) => {
      const { path, requestSerialize, responseDeserialize } = rpcOf('service.v1.CodebaseService/UploadFile');
      return client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, done);
    },
    duplex: (method) => {
      const { path, requestSerialize, responseDeserialize } = rpcOf(method);
      return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    },
    async close(graceMs = 0) {
      client.close();
      await close(graceMs);
    },
  };
}

export function rpcOf(method: string): MethodDefinition<object, object> {
  const [service, name] = method.split('/') as [string, string];
  return (protos[service] as ServiceDefinition)[name] as MethodDefinition<object, object>;
}

/** Resolves when `holds` returns true; fails after 30 s. */
export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('it never came to hold');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
