import type { Api } from './api.ts';
import type {
  Codebase,
  CreateCodebaseRequest,
  FileInfo,
  ImportCodebaseFilesRequest,
  ImportCodebaseFilesResponse,
  ListCodebasesRequest,
  UploadFileResponse,
} from './contract/messages.ts';
import { apart, callOptions, joined } from './http/arguments.ts';
import type { Body, CallOptions } from './http/call.ts';
import type { PackOptions } from './local/pack.ts';
import { bodyOf, PACK } from './local.ts';

/**
 * `mode` "replace": the codebase has exactly these files afterwards; "merge", the default: others are kept; "update": so are they,
 * unless an empty file ".wh.NAME" of an archive removes NAME. With `ifRevision` another revision of the codebase is a ConflictError.
 */
export type UploadOptions = PackOptions & Pick<ImportCodebaseFilesRequest, 'mode' | 'ifRevision'> & CallOptions;

/** Where files come from: the path of a local directory, or a tar archive. */
export type Source = string | Exclude<Body, string>;

/** Stored sets of files. */
export class Codebases {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Creates a codebase, with the files of `from`. */
  async create(
    options: CreateCodebaseRequest & { from?: Source | undefined } & PackOptions & CallOptions,
  ): Promise<Codebase> {
    const [{ from, ...pack }, fields] = apart(options, { from: 'any', ...PACK });
    const body = from === undefined ? undefined : await bodyOf(from, pack);
    const codebase = await this.#api.createCodebase({} as CreateCodebaseRequest, fields);
    if (body === undefined) return codebase;
    const call = { ...callOptions(fields), idempotencyKey: undefined };
    try {
      await this.upload(codebase.id, body, call);
      return await this.get(codebase.id, call);
    } catch (error) {
      await this.#api.deleteCodebase({ codebaseId: codebase.id }, { headers: call.headers }).catch(() => undefined);
      throw error;
    }
  }

  /** Brings in a local directory or a tar archive, all or nothing. */
  async upload(id: string, from: Source, options: UploadOptions = {}): Promise<ImportCodebaseFilesResponse> {
    const [pack, rest] = apart(options, PACK);
    const body = await bodyOf(from, pack);
    return this.#api.importCodebaseFiles({ codebaseId: id, format: 'tar' }, body, rest);
  }

  get(id: string, options?: CallOptions): Promise<Codebase> {
    return this.#api.getCodebase({ codebaseId: id }, options);
  }

  /** Every codebase, the newest first. */
  list(options: ListCodebasesRequest & CallOptions = {}): AsyncGenerator<Codebase, void, void> {
    return this.#api.listCodebases({}, options);
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#api.deleteCodebase({ codebaseId: id }, options);
  }

  /** The entries of a directory, with `recursive` everything below it, in the order of their paths. */
  files(
    id: string,
    path = '',
    options: { recursive?: boolean } & CallOptions = {},
  ): AsyncGenerator<FileInfo, void, void> {
    return this.#api.listFiles({ codebaseId: id, path }, options);
  }

  async read(id: string, path: string, options?: CallOptions): Promise<Uint8Array> {
    const answer = await this.#api.downloadFile({ codebaseId: id, filePath: path }, joined(options, { whole: true }));
    return new Uint8Array(await answer.arrayBuffer());
  }

  write(
    id: string,
    path: string,
    content: Body,
    options: { mode?: number } & CallOptions = {},
  ): Promise<UploadFileResponse> {
    return this.#api.uploadFile({ codebaseId: id, filePath: path }, content, options);
  }

  remove(id: string, path: string, options?: CallOptions): Promise<void> {
    return this.#api.removeFile({ codebaseId: id, filePath: path }, options);
  }

  /** The codebase, or one directory of it, as a tar archive. */
  async download(id: string, path = '', options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#api.exportCodebaseFiles({ codebaseId: id, path, format: 'tar' }, options);
    return answer.body as ReadableStream<Uint8Array>;
  }
}
