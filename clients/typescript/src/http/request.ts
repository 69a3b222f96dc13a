import { isObject, toWire } from '../contract/wire.ts';
import { invalid } from '../invalid.ts';
import type { Body, Content, Row } from './call.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Encoded {
  /** Path and query. */
  target: string;
  /** JSON of the fields that are not in the path or query. */
  json?: string;
}

const WITH_JSON = new Set(['POST', 'PUT', 'PATCH']);

/** Divides the fields of a request between path, query and body. Those of the path are there. */
export function encode(row: Row, request: Fields): Encoded {
  const rest = { ...request };
  const path = row.path.replace(/\{(\w+)(\+?)\}/g, (_, name: string, more: string) => {
    const value = String(rest[name]);
    delete rest[name];
    // A path of "." or ".." would be resolved by the client.
    if (/(^|\/)\.{1,2}(\/|$)/.test(value)) throw invalid(`${name} must have no part "." or ".."`);
    return more ? value.replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
  });
  if (row.kind !== 'raw' && WITH_JSON.has(row.method)) return { target: path, json: JSON.stringify(toWire(rest)) };
  const fixed = row.query !== undefined && rest[row.query] === undefined ? { ...rest, [row.query]: 'tar' } : rest;
  return { target: `${path}${queryOf(fixed)}` };
}

function queryOf(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toWire(fields) as Fields)) {
    if (Array.isArray(value)) for (const each of value) query.append(name, String(each));
    else if (isObject(value))
      for (const [key, each] of Object.entries(value)) query.set(`${name}.${key}`, String(each));
    // Permission bits are octal in a query.
    else query.set(name, name === 'mode' && typeof value === 'number' ? value.toString(8) : String(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

interface Global {
  process?: { versions?: { node?: string; bun?: string } };
  Deno?: unknown;
}

/** Browsers stream no body over HTTP/1.1. */
const canStream = (): boolean => {
  const { process, Deno } = globalThis as Global;
  return Deno !== undefined || process?.versions?.node !== undefined || process?.versions?.bun !== undefined;
};

export type Sendable = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

/** An error of the caller's own content, for example of a file that cannot be read: not one of the connection. */
export class ContentError {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

export interface Sent {
  content: Sendable | undefined;
  /** Set once reading the content has failed. */
  failed?: ContentError;
}

/** Nothing must not be taken for empty content: it would empty what is there. */
export function requireContent(body: unknown, what = 'content must be text'): void {
  const pieces = (body as { [Symbol.asyncIterator]?: unknown } | null | undefined)?.[Symbol.asyncIterator];
  if (typeof body === 'function' || typeof pieces === 'function') return;
  if (isWhole(body) || body instanceof ReadableStream) return;
  throw invalid(`${what}, bytes, a Blob, a stream of bytes, or a function that returns one of these`);
}

/** Throws ContentError. */
export async function sendable(body: Body): Promise<Sent> {
  const sent: Sent = { content: undefined };
  try {
    const content = typeof body === 'function' ? await body() : body;
    if (isWhole(content)) return { content: content as Sendable };
    const stream = streamOf(content as Exclude<Content, string | Uint8Array | Blob>, (error) => {
      sent.failed ??= new ContentError(error);
    });
    sent.content = canStream()
      ? stream
      : await new Response(stream as ConstructorParameters<typeof Response>[0]).blob();
    return sent;
  } catch (error) {
    throw new ContentError(error);
  }
}

/** Whether the body can be sent a second time. */
export const isRepeatable = (body: Body | undefined): boolean =>
  body === undefined || typeof body === 'function' || isWhole(body);

const isWhole = (content: unknown): boolean =>
  typeof content === 'string' || content instanceof Uint8Array || content instanceof Blob;

type Pieces = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

function streamOf(pieces: Pieces, onError: (error: unknown) => void): ReadableStream<Uint8Array> {
  const { next, end } = pieces instanceof ReadableStream ? readerOf(pieces) : iteratorOf(pieces);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array);
      } catch (error) {
        onError(error);
        throw error;
      }
    },
    cancel: end,
  });
}

interface Source {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  end(): Promise<void>;
}

function readerOf(stream: ReadableStream<Uint8Array>): Source {
  const reader = stream.getReader();
  return { next: () => reader.read(), end: () => reader.cancel() };
}

function iteratorOf(pieces: AsyncIterable<Uint8Array>): Source {
  const iterator = pieces[Symbol.asyncIterator]();
  return { next: () => iterator.next(), end: async () => void (await iterator.return?.()) };
}
