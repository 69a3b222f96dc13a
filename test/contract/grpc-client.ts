import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  type Client as GrpcBase,
  type ServiceError as GrpcError,
  InterceptingCall,
  type Interceptor,
  loadPackageDefinition,
  type Metadata,
  type ServiceClientConstructor,
} from '@grpc/grpc-js';
import { loadSync, type MessageTypeDefinition, type Options, type PackageDefinition } from '@grpc/proto-loader';
import type { ProcessEvent, Rpcs } from '../../lib/contract/messages.ts';
import { rpcs } from '../../lib/contract/schema.ts';
import { CODES, type Code } from '../../lib/errors.ts';
import { type AttachedClient, attachedOverGrpc } from './attached.ts';
import {
  CallError,
  Client,
  type Content,
  chunksOf,
  type Download,
  type OfProcess,
  type Protocol,
  type Unary,
  type Upload,
  type Watch,
} from './client.ts';

const PROTO = resolve(import.meta.dirname, '../../proto');
const LOADING: Options = { keepCase: true, longs: Number, enums: String, defaults: true, includeDirs: [PROTO] };
/** Of one message sent: far below the 4 MiB a server takes. */
const MESSAGE_BYTES = 256 * 1024;

const SERVICES = [...new Set(Object.values(rpcs).map(({ service }) => service))];
const FILES = readdirSync(join(PROTO, 'service/v1'))
  .filter((name) => name.endsWith('.proto'))
  .map((name) => `service/v1/${name}`);
const definitions = loadSync(FILES, LOADING);
const statusDefinitions = loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'], LOADING);

export class GrpcClient extends Client {
  override readonly protocol: Protocol = 'grpc';
  readonly #services: readonly GrpcBase[];

  /** `key`: sent with every call. */
  constructor(address: string, key?: string) {
    super();
    this.#services = SERVICES.map((name) =>
      connect(definitions, `service.v1.${name}`, address, { key, takesAll: true }),
    );
  }

  override call<N extends Unary>(operation: N, request: object, signal?: AbortSignal): Promise<Rpcs[N]['response']> {
    return unary(this.#method(operation), request, signal) as Promise<Rpcs[N]['response']>;
  }

  override async *watch<N extends Watch>(
    operation: N,
    request: object,
    signal?: AbortSignal,
  ): AsyncGenerator<Rpcs[N]['response'], void, void> {
    const open = this.#method(operation) as (request: object) => ClientReadableStream<Rpcs[N]['response']>;
    for await (const message of received(open(request), signal)) yield withoutAbsent(message);
  }

  override attach(request: OfProcess & { takeover?: boolean }): AttachedClient {
    const open = this.#method('AttachProcess') as () => ClientDuplexStream<object, ProcessEvent>;
    const call = open();
    return attachedOverGrpc(call, request, received(call));
  }

  override write<N extends Upload>(operation: N, request: object, content: Content): Promise<Rpcs[N]['response']> {
    return this.sendMessages(operation, uploadMessages(request, content));
  }

  override async *read(operation: Download, request: object): AsyncGenerator<Uint8Array, void, void> {
    const open = this.#method(operation) as (request: object) => ClientReadableStream<{ data: Uint8Array }>;
    for await (const { data } of received(open(request))) yield data;
  }

  /** A client stream with the messages as given. */
  sendMessages<N extends Upload>(
    operation: N,
    messages: AsyncIterable<object> | Iterable<object>,
  ): Promise<Rpcs[N]['response']> {
    const open = this.#method(operation) as (done: Callback<Rpcs[N]['response']>) => ClientWritableStream<object>;
    return new Promise((done, failed) => {
      const call = open((error, answer) => (error ? failed(callError(error)) : done(answer!)));
      // A refusal ends the call before all is written: the callback tells it.
      pipeline(Readable.from(messages), call as Writable).catch(() => call.cancel());
    });
  }

  override close(): void {
    for (const service of this.#services) service.close();
  }

  #method(name: string): unknown {
    const service = this.#services.find((each) => name in each);
    if (!service) throw new Error(`no service has ${name}`);
    return (service as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.bind(service);
  }
}

/** The parser has null for an absent message. */
function withoutAbsent<T extends object>(message: T): T {
  return Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null)) as T;
}

type Callback<T> = (error: GrpcError | null, answer?: T) => void;

interface Connection {
  key?: string | undefined;
  /** Receives messages of any size, and says so; otherwise a client as gRPC makes it. */
  takesAll?: boolean;
}

/** A client of one service of the contract with gRPC's own limits; the caller closes it. */
export function plainClient(service: string, address: string): GrpcBase {
  return connect(definitions, `service.v1.${service}`, address, {});
}

/** A client of one service of `packages`; the caller closes it. */
function connect(
  packages: PackageDefinition,
  service: string,
  address: string,
  { key, takesAll = false }: Connection,
): GrpcBase {
  const names = service.split('.');
  const Service = names.reduce<unknown>(
    (at, name) => (at as Record<string, unknown>)[name],
    loadPackageDefinition(packages),
  ) as ServiceClientConstructor;
  const noLimit = { 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 };
  const headers = {
    ...(key !== undefined && { 'x-api-key': key }),
    ...(takesAll && { 'x-max-answer-bytes': String(2 ** 31 - 1) }),
  };
  return new Service(address, credentials.createInsecure(), {
    ...(takesAll && noLimit),
    interceptors: [withMetadata(headers)],
  });
}

function withMetadata(headers: Record<string, string>): Interceptor {
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, listener, next) => {
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
        next(metadata, listener);
      },
    });
}

/** A service of another package of this server, like grpc.health.v1.Health, by its proto file. */
export function connectTo(file: string, service: string, address: string): GrpcBase {
  return connect(loadSync(file, LOADING), service, address, {});
}

export function unary(method: unknown, request: object, signal?: AbortSignal): Promise<unknown> {
  return new Promise((done, failed) => {
    const call = (method as (request: object, callback: Callback<unknown>) => ClientUnaryCall)(
      request,
      (error, answer) => (error ? failed(callError(error)) : done(answer)),
    );
    signal?.addEventListener('abort', () => call.cancel(), { once: true });
  });
}

export async function* received<T>(
  call: ClientReadableStream<T> | ClientDuplexStream<unknown, T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, void> {
  signal?.addEventListener('abort', () => call.cancel(), { once: true });
  try {
    yield* call as AsyncIterable<T>;
  } catch (error) {
    throw callError(error as GrpcError);
  } finally {
    call.cancel();
  }
}

async function* uploadMessages(head: object, content: Content): AsyncGenerator<object, void, void> {
  yield head;
  for await (const chunk of chunksOf(content)) {
    for (let at = 0; at < chunk.length; at += MESSAGE_BYTES) yield { chunk: chunk.subarray(at, at + MESSAGE_BYTES) };
  }
}

function callError(error: GrpcError): Error {
  const name = (Object.keys(CODES) as Code[]).find((each) => CODES[each].grpc === error.code);
  return name === undefined ? error : new CallError(name, error.details, detailsOf(error.metadata));
}

interface Value {
  nullValue?: string;
  numberValue?: number;
  stringValue?: string;
  boolValue?: boolean;
  structValue?: { fields: Record<string, Value> };
  listValue?: { values: Value[] };
}

const RESOURCE_INFO = 'type.googleapis.com/google.rpc.ResourceInfo';

/** google.rpc.Status of the trailers, its Structs and ResourceInfos as the plain objects of REST. */
function detailsOf(metadata: Metadata | undefined): unknown[] {
  const [bytes] = metadata?.get('grpc-status-details-bin') ?? [];
  if (!(bytes instanceof Buffer)) return [];
  const status = decode('google.rpc.Status', bytes) as { details: { type_url: string; value: Uint8Array }[] };
  return status.details.map(({ type_url, value }) => {
    if (type_url !== RESOURCE_INFO) return plain({ structValue: decode('google.protobuf.Struct', value) as never });
    const info = decode('google.rpc.ResourceInfo', value) as { resource_type: string; resource_name: string };
    return { '@type': type_url, resourceType: info.resource_type, resourceName: info.resource_name };
  });
}

function decode(type: string, bytes: Uint8Array): object {
  const definition = statusDefinitions[type] as MessageTypeDefinition<object, object> | undefined;
  if (!definition) throw new Error(`no definition of ${type}`);
  return definition.deserialize(Buffer.from(bytes));
}

function plain(value: Value): unknown {
  if (value.structValue) {
    return Object.fromEntries(Object.entries(value.structValue.fields).map(([name, each]) => [name, plain(each)]));
  }
  if (value.listValue) return value.listValue.values.map(plain);
  return value.stringValue ?? value.numberValue ?? value.boolValue ?? null;
}
