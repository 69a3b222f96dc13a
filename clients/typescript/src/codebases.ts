import type { Api } from './api.ts';
import type { Codebase, FileInfo, ImportCodebaseFilesResponse, UploadFileResponse } from './contract/messages.ts';
import type { Body } from './http/call.ts';
import type { PackOptions } from './local/pack.ts';
import { bodyOf } from './local.ts';
import { all, PAGE_SIZE, pages } from './pages.ts';

interface Signal {
  signal?: AbortSignal | undefined;
}

export interface UploadOptions extends PackOptions, Signal {
  /**
   * "replace": the codebase has exactly these files afterwards; "merge", the default: others are kept; "update": so are
   * they, unless an empty file ".wh.NAME" of an archive removes NAME.
   */
  mode?: 'merge' | 'replace' | 'update' | undefined;
  /** Only if the codebase has this revision: otherwise it fails with a ConflictError, and nothing is changed. */
  ifRevision?: string | undefined;
}

/** Where files come from: the path of a local directory, or a tar archive. */
export type Source = string | Exclude<Body, string>;

/** Stored sets of files. */
export class Codebases {
  readonly #api: Api;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Creates a codebase, with the files of `from`. */
  async create(options: { name: string; ownerId?: string; from?: Source } & PackOptions & Signal): Promise<Codebase> {
    const { name, ownerId, from, signal } = options;
    const body = from === undefined ? undefined : await bodyOf(from, options);
    const codebase = await this.#api.createCodebase({ name, ownerId }, { signal });
    if (body === undefined) return codebase;
    try {
      await this.#upload(codebase.id, body, { signal });
      return await this.get(codebase.id, { signal });
    } catch (error) {
      await this.#api.deleteCodebase({ codebaseId: codebase.id }).catch(() => undefined);
      throw error;
    }
  }

  /** Brings in a local directory or a tar archive, all or nothing. */
  async upload(id: string, from: Source, options: UploadOptions = {}): Promise<ImportCodebaseFilesResponse> {
    return this.#upload(id, await bodyOf(from, options), options);
  }

  #upload(id: string, body: Body, { mode, ifRevision, signal }: UploadOptions): Promise<ImportCodebaseFilesResponse> {
    return this.#api.importCodebaseFiles({ codebaseId: id, format: 'tar', mode, ifRevision }, body, { signal });
  }

  get(id: string, options: Signal = {}): Promise<Codebase> {
    return this.#api.getCodebase({ codebaseId: id }, options);
  }

  /** Every codebase, the newest first. */
  list({ ownerId, signal }: { ownerId?: string } & Signal = {}): AsyncGenerator<Codebase, void, void> {
    return pages(
      (pageToken) => this.#api.listCodebases({ ownerId, pageToken, pageSize: PAGE_SIZE }, { signal }),
      ({ codebases }) => codebases,
    );
  }

  async delete(id: string, options: Signal = {}): Promise<void> {
    await this.#api.deleteCodebase({ codebaseId: id }, options);
  }

  /** The entries of a directory, with `recursive` everything below it, in the order of their paths. */
  files(id: string, path = '', { recursive, signal }: { recursive?: boolean } & Signal = {}): Promise<FileInfo[]> {
    const request = { codebaseId: id, path, recursive, pageSize: PAGE_SIZE };
    return all(
      pages(
        (pageToken) => this.#api.listFiles({ ...request, pageToken }, { signal }),
        ({ files }) => files,
      ),
    );
  }

  async read(id: string, path: string, options: Signal = {}): Promise<Uint8Array> {
    const answer = await this.#api.downloadFile({ codebaseId: id, filePath: path }, { ...options, whole: true });
    return new Uint8Array(await answer.arrayBuffer());
  }

  write(
    id: string,
    path: string,
    content: Body,
    { mode, signal }: { mode?: number } & Signal = {},
  ): Promise<UploadFileResponse> {
    return this.#api.uploadFile({ codebaseId: id, filePath: path, mode }, content, { signal });
  }

  async remove(id: string, path: string, options: Signal = {}): Promise<void> {
    await this.#api.removeFile({ codebaseId: id, filePath: path }, options);
  }

  /** The codebase, or one directory of it, as a tar archive. */
  async download(id: string, path = '', options: Signal = {}): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#api.exportCodebaseFiles({ codebaseId: id, path, format: 'tar' }, options);
    return answer.body as ReadableStream<Uint8Array>;
  }
}
