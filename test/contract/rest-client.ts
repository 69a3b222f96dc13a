import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import WebSocket from 'ws';
import type { Rpcs } from '../../lib/contract/messages.ts';
import { enums, fields, rpcs } from '../../lib/contract/schema.ts';
import { CODES, type Code } from '../../lib/errors.ts';
import { type AttachedClient, attachedOverSocket } from './attached.ts';
import {
  CallError,
  Client,
  type Content,
  chunksOf,
  collect,
  type Download,
  type OfProcess,
  type Protocol,
  type Unary,
  type Upload,
  type Watch,
} from './client.ts';
import {
  documentedRequest,
  expectDocumented,
  expectDocumentedBody,
  expectDocumentedLine,
  expectDocumentedRequest,
} from './documented.ts';

export interface RawRequest {
  body?: Content;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface ErrorBody {
  code: number;
  message: string;
  details: unknown[];
}

/** Unlike readline's, it throws what ends the answer early. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string, void, void> {
  answer.setEncoding('utf8');
  // When nobody reads, nobody is told either.
  answer.on('error', () => {});
  let rest = '';
  for await (const text of answer as AsyncIterable<string>) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

export class RestClient extends Client {
  override readonly protocol: Protocol = 'rest';
  readonly #address: string;
  readonly #authorization: Record<string, string>;
  readonly #agent = new Agent({ keepAlive: true });

  /** `address`: host:port. `key`: sent with every request. */
  constructor(address: string, key?: string) {
    super();
    this.#address = address;
    this.#authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  override async call<N extends Unary>(
    operation: N,
    request: object,
    signal?: AbortSignal,
  ): Promise<Rpcs[N]['response']> {
    const { method, target, left, hasBody } = documentedRequest(operation, request);
    const answer = hasBody
      ? await this.json(method, target, left, signal)
      : await this.send(method, target, { signal });
    if (answer.status === 200) expectDocumentedRequest(method, target, JSON.parse(JSON.stringify(left)), hasBody);
    return withBytes(succeeded(answer)) as Rpcs[N]['response'];
  }

  json(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<RawAnswer> {
    const headers = { 'content-type': 'application/json' };
    return this.send(method, path, { body: JSON.stringify(body), headers, signal });
  }

  override async *watch<N extends Watch>(
    operation: N,
    request: object,
    signal?: AbortSignal,
  ): AsyncGenerator<Rpcs[N]['response'], void, void> {
    const { method, target, left, hasBody } = documentedRequest(operation, request);
    const body = hasBody && { body: JSON.stringify(left), headers: { 'content-type': 'application/json' } };
    const answer = await this.open(method, target, { ...body, signal });
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    for await (const line of linesOf(answer)) {
      const message = JSON.parse(line) as { error?: ErrorBody };
      expectDocumentedLine(method, target, message);
      if (message.error) throw wireError(message.error);
      yield { ...absentFields(rpcs[operation].response), ...(withBytes(message) as object) } as Rpcs[N]['response'];
    }
  }

  override attach(request: OfProcess & { takeover?: boolean }): AttachedClient {
    const { target } = documentedRequest('AttachProcess', request);
    const socket = new WebSocket(`ws://${this.#address}${target}`, { headers: this.#authorization });
    return attachedOverSocket(socket, (_, body) => errorOf(body), wireError);
  }

  override async write<N extends Upload>(operation: N, request: object, body: Content): Promise<Rpcs[N]['response']> {
    const { method, target } = documentedRequest(operation, request);
    return succeeded(await this.send(method, target, { body })) as Rpcs[N]['response'];
  }

  override async *read(operation: Download, request: object): AsyncGenerator<Uint8Array, void, void> {
    const { method, target } = documentedRequest(operation, request);
    const answer = await this.open(method, target, {});
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    yield* answer as AsyncIterable<Buffer>;
  }

  /** Any request at all; the answer whole, whatever its status. It must be one that docs/openapi.json has. */
  async send(method: string, path: string, options: RawRequest = {}): Promise<RawAnswer> {
    const answer = await this.open(method, path, options);
    const whole = { status: answer.statusCode ?? 0, headers: answer.headers, body: await collect(answer) };
    expectDocumentedBody(method, path, whole, whole.body.toString());
    return whole;
  }

  /** Resolves with the head of the answer; its body is the caller's to read. */
  async open(method: string, path: string, request: RawRequest): Promise<IncomingMessage> {
    const answer = await this.#begin(method, path, request);
    expectDocumented(method, path, { status: answer.statusCode ?? 0, headers: answer.headers });
    return answer;
  }

  #begin(method: string, path: string, { body, headers = {}, signal }: RawRequest): Promise<IncomingMessage> {
    const [host, port] = splitAddress(this.#address);
    return new Promise((done, failed) => {
      const outgoing = httpRequest({
        host,
        port,
        method,
        path,
        headers: { ...this.#authorization, ...headers },
        agent: this.#agent,
        ...(signal && { signal }),
      });
      outgoing.once('response', done).once('error', failed);
      if (body === undefined) outgoing.end();
      else if (typeof body === 'string' || body instanceof Uint8Array) outgoing.end(body);
      // Errors reach the caller through 'error'; an early answer (a refusal) may end the body's writing.
      else pipeline(Readable.from(chunksOf(body), { objectMode: false }), outgoing).catch(() => {});
    });
  }

  override close(): void {
    this.#agent.destroy();
  }
}

export function filePath(codebaseId: string, path: string): string {
  return `/v1/codebases/${encodeURIComponent(codebaseId)}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
}

export function splitAddress(address: string): [host: string, port: number] {
  const colon = address.lastIndexOf(':');
  return [address.slice(0, colon).replace(/^\[|\]$/g, ''), Number(address.slice(colon + 1))];
}

function errorOf(body: Buffer): CallError {
  const { code, message, details } = JSON.parse(body.toString()) as ErrorBody;
  return wireError({ code, message, details });
}

function wireError({ code, message, details }: ErrorBody): CallError {
  const name = (Object.keys(CODES) as Code[]).find((each) => CODES[each].grpc === code);
  if (name === undefined) throw new Error(`the error body has the code ${code}`);
  return new CallError(name, message, details);
}

/** What a field that is left out of a line stands for; none is sent for a message, or an optional field. */
function absentFields(message: keyof typeof fields): object {
  const plain: Readonly<Record<string, { type: string; optional?: true; repeated?: true }>> = fields[message];
  const entries = Object.entries(plain).flatMap(([name, { type, optional, repeated }]) => {
    if (optional || repeated || type in fields) return [];
    if (type in enums) return [[name, enums[type as keyof typeof enums][0]]];
    return [[name, { string: '', bool: false, bytes: Buffer.alloc(0) }[type] ?? 0]];
  });
  return Object.fromEntries(entries);
}

/** Bytes in JSON are base64; no other field has the name `data`. */
function withBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [
    name,
    name === 'data' && typeof each === 'string' ? Buffer.from(each, 'base64') : withBytes(each),
  ]);
  return Object.fromEntries(entries);
}

function succeeded(answer: RawAnswer): unknown {
  if (answer.status !== 200) throw errorOf(answer.body);
  return JSON.parse(answer.body.toString());
}
