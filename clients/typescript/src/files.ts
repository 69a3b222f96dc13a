import type { Api } from './api.ts';
import type { FileStat, ImportFilesResponse } from './contract/messages.ts';
import { NotFoundError } from './errors.ts';
import type { Body } from './http/call.ts';
import type { PackOptions } from './local/pack.ts';
import { bodyOf } from './local.ts';
import { all, PAGE_SIZE, pages } from './pages.ts';

export interface FileOptions {
  /** "agent": as a command, with its rules, in a running sandbox; "owner": without rules, in every state. */
  as?: 'agent' | 'owner' | undefined;
  signal?: AbortSignal | undefined;
}

/** The files of a sandbox, without running a command. Paths are relative to its workspace. */
export class Files {
  readonly #api: Api;
  readonly #sandboxId: string;

  constructor(api: Api, sandboxId: string) {
    this.#api = api;
    this.#sandboxId = sandboxId;
  }

  #at(path: string, { as }: FileOptions): { sandboxId: string; path: string; as: string | undefined } {
    return { sandboxId: this.#sandboxId, path: relative(path), as };
  }

  async read(path: string, options: FileOptions = {}): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#open(path, options, true)).arrayBuffer());
  }

  async text(path: string, options: FileOptions = {}): Promise<string> {
    return (await this.#open(path, options, true)).text();
  }

  async stream(path: string, options: FileOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return (await this.#open(path, options, false)).body as ReadableStream<Uint8Array>;
  }

  #open(path: string, options: FileOptions, whole: boolean): Promise<Response> {
    return this.#api.readFile(this.#at(path, options), { signal: options.signal, whole });
  }

  /** Creates or replaces a file, completely or not at all. Missing directories are created. */
  write(path: string, content: Body, options: FileOptions & { mode?: number } = {}): Promise<FileStat> {
    return this.#api.writeFile({ ...this.#at(path, options), mode: options.mode }, content, { signal: options.signal });
  }

  /** The entries of a directory, with `recursive` everything below it, in the order of their paths. */
  list(path = '', options: FileOptions & { recursive?: boolean } = {}): Promise<FileStat[]> {
    const { recursive, signal } = options;
    const request = { ...this.#at(path, options), recursive, pageSize: PAGE_SIZE };
    return all(
      pages(
        (pageToken) => this.#api.listDirectory({ ...request, pageToken }, { signal }),
        ({ files }) => files,
      ),
    );
  }

  /** Metadata of a path. Does not follow a symlink. */
  stat(path: string, options: FileOptions = {}): Promise<FileStat> {
    return this.#api.statFile(this.#at(path, options), { signal: options.signal });
  }

  async exists(path: string, options: FileOptions = {}): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      if (error instanceof NotFoundError && error.resourceType !== 'sandbox') return false;
      throw error;
    }
  }

  /** Returns how many files, directories and symlinks were removed; 0 if that answer was lost. */
  async remove(path: string, options: FileOptions & { recursive?: boolean } = {}): Promise<number> {
    const { recursive, signal } = options;
    return (await this.#api.deleteFile({ ...this.#at(path, options), recursive }, { signal })).removed;
  }

  move(from: string, to: string, options: FileOptions & { replace?: boolean } = {}): Promise<FileStat> {
    const { as, replace, signal } = options;
    const request = { sandboxId: this.#sandboxId, as, from: relative(from), to: relative(to), replace };
    return this.#api.moveFile(request, { signal });
  }

  /** `parents`: create missing ones, and succeed if the directory exists. */
  mkdir(path: string, options: FileOptions & { parents?: boolean; mode?: number } = {}): Promise<FileStat> {
    const { parents, mode, signal } = options;
    return this.#api.makeDirectory({ ...this.#at(path, options), parents, mode }, { signal });
  }

  /** Unpacks a tar archive, or copies a local directory (its path), into a directory: all or nothing. */
  async upload(
    from: string | Exclude<Body, string>,
    to = '',
    options: FileOptions & PackOptions = {},
  ): Promise<ImportFilesResponse> {
    const body = await bodyOf(from, options);
    return this.#api.importFiles({ ...this.#at(to, options), format: 'tar' }, body, { signal: options.signal });
  }

  /** A directory as a tar archive. */
  async download(path = '', options: FileOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#api.exportFiles(
      { ...this.#at(path, options), format: 'tar' },
      { signal: options.signal },
    );
    return answer.body as ReadableStream<Uint8Array>;
  }
}

/** Paths may be those of commands. */
function relative(path: string): string {
  return path.replace(/^\/workspace(?=\/|$)/, '').replace(/^\/+/, '');
}
