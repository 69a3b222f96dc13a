import type { Rpcs } from '../../lib/contract/messages.ts';
import type { rpcs } from '../../lib/contract/schema.ts';
import type { Code } from '../../lib/errors.ts';
import type { AttachedClient } from './attached.ts';

export type Protocol = 'rest' | 'grpc';
export const PROTOCOLS: readonly Protocol[] = ['rest', 'grpc'];

type Streams<Up, Down> = {
  [N in keyof Rpcs]: (typeof rpcs)[N] extends { requestStream: Up; responseStream: Down } ? N : never;
}[keyof Rpcs];
type Answer<N extends keyof Rpcs> = Rpcs[N]['response'];

/** Operations of one request and one answer. */
export type Unary = Streams<false, false>;
export type Upload = Streams<true, false>;
/** Those whose answer is the bytes of a file or an archive. */
export type Download = {
  [N in Streams<false, true>]: Exclude<keyof Answer<N>, 'data'> extends never ? N : never;
}[Streams<false, true>];
/** Those whose answer is messages. */
export type Watch = Exclude<Streams<false, true>, Download>;

export type Content = Uint8Array | string | AsyncIterable<Uint8Array>;

/** One process. */
export interface OfProcess {
  sandbox_id: string;
  process_id: string;
  offset?: number;
}

/**
 * The service as one protocol carries it: proto field names, enums by name, int64 as number. Requests are plain
 * objects, so that cases can send what they should not. Every refusal is a `CallError`.
 */
export abstract class Client {
  abstract readonly protocol: Protocol;
  abstract call<N extends Unary>(operation: N, request: object, signal?: AbortSignal): Promise<Answer<N>>;
  abstract watch<N extends Watch>(operation: N, request: object, signal?: AbortSignal): AsyncIterable<Answer<N>>;
  abstract read(operation: Download, request: object): AsyncIterable<Uint8Array>;
  abstract write<N extends Upload>(operation: N, request: object, content: Content): Promise<Answer<N>>;
  abstract attach(request: OfProcess & { takeover?: boolean }): AttachedClient;
  abstract close(): void;

  upload(codebase_id: string, file_path: string, content: Content, mode?: number): Promise<Answer<'UploadFile'>> {
    return this.write('UploadFile', { codebase_id, file_path, ...(mode !== undefined && { mode }) }, content);
  }

  download(codebase_id: string, file_path: string): AsyncIterable<Uint8Array> {
    return this.read('DownloadFile', { codebase_id, file_path });
  }
}

/** An error as the client of either protocol sees it. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: Code;
  readonly details: readonly unknown[];

  constructor(code: Code, message: string, details: readonly unknown[]) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export async function* chunksOf(content: Content): AsyncGenerator<Uint8Array, void, void> {
  if (typeof content === 'string') yield Buffer.from(content);
  else if (content instanceof Uint8Array) yield content;
  else yield* content;
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
