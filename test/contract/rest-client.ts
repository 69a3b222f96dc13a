import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import WebSocket from 'ws';
import type {
  DeniedHosts,
  ExecStreamChunk,
  FileStat,
  Image,
  ImportCodebaseFilesResponse,
  ImportFilesResponse,
  NetworkEvent,
  ProcessEvent,
} from '../../lib/contract/messages.ts';
import { CODES, type Code } from '../../lib/errors.ts';
import type { ImportMode } from '../../lib/field-values.ts';
import { type AttachedClient, attachedOverSocket } from './attached.ts';
import {
  CallError,
  type Choice,
  type Client,
  type Content,
  chunksOf,
  collect,
  type OfFile,
  type OfProcess,
  type Protocol,
  type Unary,
  type UploadResult,
} from './client.ts';
import { expectDocumented, expectDocumentedBody, expectDocumentedLine, expectDocumentedRequest } from './documented.ts';

const ROUTES: Readonly<Record<keyof Unary, readonly [method: string, path: string]>> = {
  CreateSandbox: ['POST', '/v1/sandboxes'],
  GetSandbox: ['GET', '/v1/sandboxes/{sandbox_id}'],
  ListSandboxes: ['GET', '/v1/sandboxes'],
  UpdateSandbox: ['PATCH', '/v1/sandboxes/{sandbox_id}'],
  StartSandbox: ['POST', '/v1/sandboxes/{sandbox_id}/start'],
  StopSandbox: ['POST', '/v1/sandboxes/{sandbox_id}/stop'],
  DestroySandbox: ['DELETE', '/v1/sandboxes/{sandbox_id}'],
  Exec: ['POST', '/v1/sandboxes/{sandbox_id}/exec'],
  CreateSession: ['POST', '/v1/sandboxes/{sandbox_id}/sessions'],
  GetSession: ['GET', '/v1/sessions/{session_id}'],
  ListSessions: ['GET', '/v1/sandboxes/{sandbox_id}/sessions'],
  DestroySession: ['DELETE', '/v1/sessions/{session_id}'],
  SessionExec: ['POST', '/v1/sessions/{session_id}/exec'],
  StartProcess: ['POST', '/v1/sandboxes/{sandbox_id}/processes'],
  GetProcess: ['GET', '/v1/sandboxes/{sandbox_id}/processes/{process_id}'],
  ListProcesses: ['GET', '/v1/sandboxes/{sandbox_id}/processes'],
  DeleteProcess: ['DELETE', '/v1/sandboxes/{sandbox_id}/processes/{process_id}'],
  SignalProcess: ['POST', '/v1/sandboxes/{sandbox_id}/processes/{process_id}/signal'],
  ResizeTerminal: ['POST', '/v1/sandboxes/{sandbox_id}/processes/{process_id}/resize'],
  ReadProcessOutput: ['GET', '/v1/sandboxes/{sandbox_id}/processes/{process_id}/output'],
  WaitPort: ['GET', '/v1/sandboxes/{sandbox_id}/ports'],
  OpenPort: ['POST', '/v1/sandboxes/{sandbox_id}/ports'],
  ListPorts: ['GET', '/v1/sandboxes/{sandbox_id}/ports'],
  GetPort: ['GET', '/v1/sandboxes/{sandbox_id}/ports/{port}'],
  ClosePort: ['DELETE', '/v1/sandboxes/{sandbox_id}/ports/{port}'],
  UpdatePermissions: ['PUT', '/v1/sandboxes/{sandbox_id}/permissions'],
  ExplainPermission: ['GET', '/v1/sandboxes/{sandbox_id}/permissions/explain'],
  ListRefusals: ['GET', '/v1/sandboxes/{sandbox_id}/permissions/refusals'],
  ListPresets: ['GET', '/v1/presets'],
  GetNetwork: ['GET', '/v1/sandboxes/{sandbox_id}/network'],
  UpdateNetwork: ['PUT', '/v1/sandboxes/{sandbox_id}/network'],
  ExplainNetwork: ['GET', '/v1/sandboxes/{sandbox_id}/network/explain'],
  ListConnections: ['GET', '/v1/sandboxes/{sandbox_id}/network/connections'],
  ListNetworkPresets: ['GET', '/v1/network-presets'],
  Commit: ['POST', '/v1/sandboxes/{sandbox_id}/commit'],
  Discard: ['POST', '/v1/sandboxes/{sandbox_id}/discard'],
  CreateCheckpoint: ['POST', '/v1/sandboxes/{sandbox_id}/checkpoints'],
  ListCheckpoints: ['GET', '/v1/sandboxes/{sandbox_id}/checkpoints'],
  DeleteCheckpoint: ['DELETE', '/v1/sandboxes/{sandbox_id}/checkpoints/{name}'],
  Rollback: ['POST', '/v1/sandboxes/{sandbox_id}/rollback'],
  Fork: ['POST', '/v1/sandboxes/{sandbox_id}/fork'],
  ListChanges: ['GET', '/v1/sandboxes/{sandbox_id}/changes'],
  PreviewFile: ['GET', '/v1/sandboxes/{sandbox_id}/preview'],
  StatFile: ['GET', '/v1/sandboxes/{sandbox_id}/stat'],
  ListDirectory: ['GET', '/v1/sandboxes/{sandbox_id}/files'],
  MakeDirectory: ['POST', '/v1/sandboxes/{sandbox_id}/mkdir'],
  MoveFile: ['POST', '/v1/sandboxes/{sandbox_id}/move'],
  DeleteFile: ['DELETE', '/v1/sandboxes/{sandbox_id}/files/{path}'],
  CreateCodebase: ['POST', '/v1/codebases'],
  GetCodebase: ['GET', '/v1/codebases/{codebase_id}'],
  ListCodebases: ['GET', '/v1/codebases'],
  DeleteCodebase: ['DELETE', '/v1/codebases/{codebase_id}'],
  ListFiles: ['GET', '/v1/codebases/{codebase_id}/files'],
  CreateKey: ['POST', '/v1/keys'],
  ListKeys: ['GET', '/v1/keys'],
  RevokeKey: ['DELETE', '/v1/keys/{key_id}'],
  CreateTicket: ['POST', '/v1/tickets'],
  GetCaller: ['GET', '/v1/caller'],
  PutSecret: ['PUT', '/v1/secrets/{name}'],
  GetSecret: ['GET', '/v1/secrets/{name}'],
  ListSecrets: ['GET', '/v1/secrets'],
  DeleteSecret: ['DELETE', '/v1/secrets/{name}'],
  SetOwnerLimits: ['PUT', '/v1/owners/{owner_id}/limits'],
  GetOwnerLimits: ['GET', '/v1/owners/{owner_id}/limits'],
  GetImage: ['GET', '/v1/images/{image}'],
  ListImages: ['GET', '/v1/images'],
  DeleteImage: ['DELETE', '/v1/images/{image}'],
};

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

/** One line of the streaming answer, `data` in base64. */
interface WireChunk {
  data?: string;
  stream?: ExecStreamChunk['stream'];
  exit_code?: number;
  duration_ms?: number;
  error?: ErrorBody;
  end_reason?: string;
  keepalive?: boolean;
  session_ended?: boolean;
  denied?: DeniedHosts;
  session_reset?: boolean;
}

export class RestClient implements Client {
  readonly protocol: Protocol = 'rest';
  readonly #address: string;
  readonly #authorization: Record<string, string>;
  readonly #agent = new Agent({ keepAlive: true });

  /** `address`: host:port. `key`: sent with every request. */
  constructor(address: string, key?: string) {
    this.#address = address;
    this.#authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  async call<O extends keyof Unary>(operation: O, request: object, signal?: AbortSignal): Promise<Unary[O]> {
    const [method, template] = ROUTES[operation];
    const rest: Record<string, unknown> = { ...request };
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(rest[name] ?? '');
      delete rest[name];
      return name === 'path' || name === 'image'
        ? value.split('/').map(encodeURIComponent).join('/')
        : encodeURIComponent(value);
    });
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(method);
    const target = hasBody ? path : `${path}${query(rest)}`;
    const answer = hasBody ? await this.json(method, path, rest, signal) : await this.send(method, target, { signal });
    if (answer.status === 200) expectDocumentedRequest(method, target, JSON.parse(JSON.stringify(rest)), hasBody);
    return withBytes(succeeded(answer)) as Unary[O];
  }

  json(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<RawAnswer> {
    const headers = { 'content-type': 'application/json' };
    return this.send(method, path, { body: JSON.stringify(body), headers, signal });
  }

  async *execStream(request: object, signal?: AbortSignal): AsyncGenerator<ExecStreamChunk, void, void> {
    const { sandbox_id, session_id, ...body } = request as { sandbox_id?: string; session_id?: string };
    const target = session_id === undefined ? `sandboxes/${sandbox_id}` : `sessions/${session_id}`;
    const path = `/v1/${target}/exec/stream`;
    const answer = await this.open('POST', path, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      signal,
    });
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    for await (const line of linesOf(answer)) {
      const chunk = JSON.parse(line) as WireChunk;
      expectDocumentedLine('POST', path, chunk);
      yield chunkOf(chunk);
    }
  }

  async *watchProcess(request: OfProcess, signal?: AbortSignal): AsyncGenerator<ProcessEvent, void, void> {
    const { offset, ...process } = request;
    const path = `${processPath(process)}/events${query({ offset })}`;
    for await (const event of this.#events(path, signal)) yield withBytes(event) as ProcessEvent;
  }

  async *watchNetwork(request: object, signal?: AbortSignal): AsyncGenerator<NetworkEvent, void, void> {
    const { sandbox_id, ...fields } = request as { sandbox_id: string };
    const path = `/v1/sandboxes/${sandbox_id}/network/events${query(fields)}`;
    yield* this.#events(path, signal) as AsyncGenerator<NetworkEvent, void, void>;
  }

  async *#events(path: string, signal: AbortSignal | undefined): AsyncGenerator<object, void, void> {
    const answer = await this.open('GET', path, { signal });
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    for await (const line of linesOf(answer)) {
      const message = JSON.parse(line) as { error?: ErrorBody };
      expectDocumentedLine('GET', path, message);
      const { error, ...event } = message;
      if (error) throw wireError(error);
      yield event;
    }
  }

  attach({ offset, takeover, ...process }: OfProcess & { takeover?: boolean }): AttachedClient {
    const url = `ws://${this.#address}${processPath(process)}/attach${query({ offset, takeover })}`;
    const socket = new WebSocket(url, { headers: this.#authorization });
    return attachedOverSocket(socket, (_, body) => errorOf(body), wireError);
  }

  async writeProcessInput(
    { offset, end, ...process }: OfProcess & { end?: boolean },
    body: Content,
  ): Promise<{ input_next: number }> {
    const answer = await this.send('POST', `${processPath(process)}/input${query({ offset, end })}`, { body });
    return succeeded(answer) as { input_next: number };
  }

  async upload(codebaseId: string, path: string, content: Content, mode?: number): Promise<UploadResult> {
    const suffix = mode === undefined ? '' : `?mode=${mode.toString(8)}`;
    const answer = await this.send('PUT', `${filePath(codebaseId, path)}${suffix}`, { body: content });
    return succeeded(answer) as UploadResult;
  }

  async *download(codebaseId: string, path: string): AsyncGenerator<Uint8Array, void, void> {
    const answer = await this.open('GET', filePath(codebaseId, path), {});
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    yield* answer as AsyncIterable<Buffer>;
  }

  async *exportChanges(sandboxId: string, format: string, choice: Choice = {}): AsyncGenerator<Uint8Array, void, void> {
    const path = `/v1/sandboxes/${encodeURIComponent(sandboxId)}/changes${query({ format, ...choice })}`;
    const answer = await this.open('GET', path, {});
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    yield* answer as AsyncIterable<Buffer>;
  }

  async *readFile({ sandbox_id, path = '', ...rest }: OfFile): AsyncGenerator<Uint8Array, void, void> {
    const answer = await this.open('GET', `${sandboxFile(sandbox_id, path)}${query(rest)}`, {});
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    yield* answer as AsyncIterable<Buffer>;
  }

  async writeFile(
    { sandbox_id, path = '', mode, ...rest }: OfFile & { mode?: number },
    body: Content,
  ): Promise<FileStat> {
    const fields = { ...rest, ...(mode !== undefined && { mode: mode.toString(8) }) };
    return succeeded(await this.send('PUT', `${sandboxFile(sandbox_id, path)}${query(fields)}`, { body })) as FileStat;
  }

  async *exportFiles({ sandbox_id, ...rest }: OfFile): AsyncGenerator<Uint8Array, void, void> {
    const at = `/v1/sandboxes/${encodeURIComponent(sandbox_id)}/files${query({ ...rest, format: 'tar' })}`;
    const answer = await this.open('GET', at, {});
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    yield* answer as AsyncIterable<Buffer>;
  }

  async importImage(name: string, body: Content): Promise<Image> {
    return succeeded(await this.send('PUT', `/v1/images/${name}`, { body })) as Image;
  }

  async importFiles({ sandbox_id, ...rest }: OfFile, body: Content): Promise<ImportFilesResponse> {
    const at = `/v1/sandboxes/${encodeURIComponent(sandbox_id)}/files${query({ ...rest, format: 'tar' })}`;
    return succeeded(await this.send('PUT', at, { body })) as ImportFilesResponse;
  }

  async *exportCodebase(codebaseId: string, path = ''): AsyncGenerator<Uint8Array, void, void> {
    const answer = await this.open('GET', `/v1/codebases/${codebaseId}/files${query({ path, format: 'tar' })}`, {});
    if (answer.statusCode !== 200) throw errorOf(await collect(answer));
    yield* answer as AsyncIterable<Buffer>;
  }

  async importCodebase(
    codebaseId: string,
    body: Content,
    mode?: ImportMode,
    if_revision?: string,
  ): Promise<ImportCodebaseFilesResponse> {
    const at = `/v1/codebases/${codebaseId}/files${query({ format: 'tar', ...(mode && { mode }), ...(if_revision && { if_revision }) })}`;
    return succeeded(await this.send('PUT', at, { body })) as ImportCodebaseFilesResponse;
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

  close(): void {
    this.#agent.destroy();
  }
}

export function filePath(codebaseId: string, path: string): string {
  return `/v1/codebases/${encodeURIComponent(codebaseId)}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
}

function sandboxFile(sandboxId: string, path: string): string {
  return `/v1/sandboxes/${encodeURIComponent(sandboxId)}/files/${path.split('/').map(encodeURIComponent).join('/')}`;
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

function chunkOf(chunk: WireChunk): ExecStreamChunk {
  const { data = '', stream = 'STDOUT', exit_code, duration_ms = 0, error, end_reason = '', keepalive = false } = chunk;
  const { session_ended = false, session_reset = false, denied } = chunk;
  if (error) throw wireError(error);
  return {
    data: Buffer.from(data, 'base64'),
    stream,
    ...(exit_code !== undefined && { exit_code }),
    duration_ms,
    end_reason,
    keepalive,
    session_ended,
    session_reset,
    ...(denied && { denied }),
  };
}

function processPath({ sandbox_id, process_id }: OfProcess): string {
  return `/v1/sandboxes/${encodeURIComponent(sandbox_id)}/processes/${encodeURIComponent(process_id)}`;
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

/** An entry of a map is a parameter `field.key`; each element of a list is a parameter of the same name. */
function query(fields: Record<string, unknown>): string {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  const entries = present.flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((each) => [name, String(each)]);
    return typeof value === 'object' && value !== null
      ? Object.entries(value).map(([key, each]) => [`${name}.${key}`, String(each)])
      : [[name, String(value)]];
  });
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries as [string, string][])}`;
}
