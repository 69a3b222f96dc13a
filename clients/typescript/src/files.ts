import type { Api } from './api.ts';
import type { FileStat, ImportFilesResponse, MakeDirectoryRequest, MoveFileRequest } from './contract/messages.ts';
import { NotFoundError } from './errors.ts';
import { apart, joined } from './http/arguments.ts';
import type { Body, CallOptions } from './http/call.ts';
import type { PackOptions } from './local/pack.ts';
import { bodyOf, PACK } from './local.ts';

/**
 * The files of a sandbox, without running a command. Paths are relative to its workspace. As its commands, with its rules, in a
 * running sandbox; `asOwner` without rules, in every state.
 */
export class Files {
  readonly #api: Api;
  readonly #sandboxId: string;
  readonly #as: 'owner' | undefined;

  constructor(api: Api, sandboxId: string, as?: 'owner') {
    this.#api = api;
    this.#sandboxId = sandboxId;
    this.#as = as;
  }

  /** The same files with full control. */
  asOwner(): Files {
    return new Files(this.#api, this.#sandboxId, 'owner');
  }

  get #of(): { sandboxId: string; as: 'owner' | undefined } {
    return { sandboxId: this.#sandboxId, as: this.#as };
  }

  #at(path: string): { sandboxId: string; path: string; as: 'owner' | undefined } {
    return { ...this.#of, path: relative(path) };
  }

  async read(path: string, options?: CallOptions): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#open(path, true, options)).arrayBuffer());
  }

  async readText(path: string, options?: CallOptions): Promise<string> {
    return (await this.#open(path, true, options)).text();
  }

  async stream(path: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return (await this.#open(path, false, options)).body as ReadableStream<Uint8Array>;
  }

  #open(path: string, whole: boolean, options?: CallOptions): Promise<Response> {
    return this.#api.readFile(this.#at(path), joined(options, { whole }));
  }

  /** Creates or replaces a file, completely or not at all. Missing directories are created. */
  write(path: string, content: Body, options: { mode?: number } & CallOptions = {}): Promise<FileStat> {
    return this.#api.writeFile(this.#at(path), content, options);
  }

  /** The entries of a directory, with `recursive` everything below it, in the order of their paths. */
  list(path = '', options: { recursive?: boolean } & CallOptions = {}): AsyncGenerator<FileStat, void, void> {
    return this.#api.listDirectory(this.#at(path), options);
  }

  /** Metadata of a path. Does not follow a symlink. */
  stat(path: string, options?: CallOptions): Promise<FileStat> {
    return this.#api.statFile(this.#at(path), options);
  }

  async exists(path: string, options?: CallOptions): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      if (error instanceof NotFoundError && error.resourceType !== 'sandbox') return false;
      throw error;
    }
  }

  /** Returns how many files, directories and symlinks were removed; 0 if that answer was lost. */
  async remove(path: string, options: { recursive?: boolean } & CallOptions = {}): Promise<number> {
    return (await this.#api.deleteFile(this.#at(path), options)).removed;
  }

  move(from: string, to: string, options: Pick<MoveFileRequest, 'replace'> & CallOptions = {}): Promise<FileStat> {
    return this.#api.moveFile({ ...this.#of, from: relative(from), to: relative(to) }, options);
  }

  /** Creates a directory; unless `parents` is false, those above it, too, and it may exist. */
  mkdir(path: string, options: Pick<MakeDirectoryRequest, 'parents' | 'mode'> & CallOptions = {}): Promise<FileStat> {
    return this.#api.makeDirectory(this.#at(path), joined({ parents: true }, options));
  }

  /** Unpacks a tar archive, or copies a local directory (its path), into a directory: all or nothing. */
  async upload(
    from: string | Exclude<Body, string>,
    to = '',
    options: PackOptions & CallOptions = {},
  ): Promise<ImportFilesResponse> {
    const [pack, rest] = apart(options, PACK);
    const body = await bodyOf(from, pack);
    return this.#api.importFiles({ ...this.#at(to), format: 'tar' }, body, rest);
  }

  /** A directory as a tar archive. */
  async download(path = '', options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const answer = await this.#api.exportFiles({ ...this.#at(path), format: 'tar' }, options);
    return answer.body as ReadableStream<Uint8Array>;
  }
}

/** Paths may be those of commands. What is no text is refused by the call. */
export function relative(path: string): string {
  return typeof path !== 'string' ? path : path.replace(/^\/workspace(?=\/|$)/, '').replace(/^\/+/, '');
}
