import { join } from 'node:path';
import type { Codebase, FileInfo } from '../contract/messages.ts';
import type { ImportMode } from '../field-values.ts';
import { isId } from '../ids.ts';
import { unlimitedOwners } from '../limits/stored-limits.ts';
import type { CodebaseRecord } from '../metadata/metadata.ts';
import { refuseUsed } from '../metadata/refuse-used.ts';
import { shownCodebase } from '../metadata/shown.ts';
import { notFound } from '../not-found.ts';
import { newestPage, type Page, scopeOf } from '../paging.ts';
import type { ByteStream, StoredFile } from '../readable-file.ts';
import type { Codebases, NewCodebase } from '../services.ts';
import { callersThread } from './archive/callers-thread.ts';
import { ARCHIVE_DESCRIPTORS, exportArchive } from './archive/export-archive.ts';
import { importInto } from './archive/into-tree.ts';
import { Checksums } from './checksums.ts';
import { CodebaseTree, FILES } from './codebase-tree.ts';
import { diskError } from './disk-errors.ts';
import { checkedMode, parseFilePath, parseLinkTarget } from './file-path.ts';
import { newRecord } from './new-record.ts';
import type { CodebasesOptions, CodebaseThreads, CodebaseUsers } from './options.ts';
import { OwnerQuota } from './owner-quota.ts';
import type { MakePlan } from './plan.ts';
import { damagedCodebase, exactBytes, withTotals } from './shown-totals.ts';
import { Storage } from './storage.ts';
import { TotalsVerifier, totalsRecord } from './totals-verifier.ts';

/** Descriptors of an upload: the new file, its directory, and the directory that it is moved to. */
const UPLOAD_DESCRIPTORS = 3;
/** Descriptors of a download: the file, and a directory while its path is resolved. */
const DOWNLOAD_DESCRIPTORS = 2;

/** Codebases on disk. `file_count` and `total_size` of a stored record are ignored: see `contents`. */
export class StoredCodebases implements Codebases {
  readonly #options: CodebasesOptions;
  readonly #storage: Storage;
  readonly #archives: CodebaseThreads;
  readonly #checksums = new Checksums();
  readonly #trees = new Map<string, CodebaseTree>();
  readonly #quota: OwnerQuota;
  readonly verifier: TotalsVerifier;
  #users: CodebaseUsers | undefined;
  #closed = false;

  private constructor(options: CodebasesOptions) {
    this.#options = options;
    this.#storage = new Storage(options.path);
    this.#archives = options.archives ?? callersThread();
    this.verifier = new TotalsVerifier((id) => join(this.#storage.directory(id), FILES), this.#trees, options);
    this.#quota = new OwnerQuota(options.owners ?? unlimitedOwners(0), {
      of: (ownerId) => options.records.ofOwner(ownerId).map(({ id }) => id),
      bytesOf: (id) => this.#trees.get(id)?.lastBytes ?? exactBytes(options.records.get(id)),
      count: async (id) => this.#tree(id).totals(),
    });
  }

  /** Opens the storage and repairs the effects of a crash. Call once, before any other use of the directory. */
  static async open(options: CodebasesOptions): Promise<StoredCodebases> {
    const codebases = new StoredCodebases(options);
    await codebases.#storage.recover((id) => options.records.get(id) !== undefined, options.log);
    return codebases;
  }

  /** Call once, before the first call on files. Not a parameter of `open`, because the sandboxes need the codebases. */
  connect(users: CodebaseUsers): void {
    this.#users = users;
  }

  /**
   * Returns the codebase's record. Throws NOT_FOUND for ids of any form. Synchronous: the result is valid until the
   * next await.
   */
  require(id: string): CodebaseRecord {
    const record = isId('cb', id) ? this.#options.records.get(id) : undefined;
    if (record === undefined) throw notFound('codebase', id);
    return record;
  }

  /** Host directory of the files; callers only read it. */
  filesPath(id: string): string {
    return join(this.#storage.directory(this.require(id).id), FILES);
  }

  async create(request: NewCodebase): Promise<Codebase> {
    const now = (this.#options.now ?? Date.now)();
    const record = newRecord(request, now);
    const counted = this.#quota.beginCreate(record.owner_id);
    try {
      await this.#storage.make(record.id).finally(counted);
      // Visible, and counted by its record, before the next await.
      await this.#options.records.put(record);
    } catch (error) {
      await this.#remove(record.id);
      throw diskError(error);
    }
    return shownCodebase(record);
  }

  /** Never counts: see `KeptTotals`. */
  async get(id: string): Promise<Codebase> {
    const record = this.require(id);
    await this.#look(id).catch((error) => rethrow(this.#options.records.get(id) ? error : notFound('codebase', id)));
    return withTotals(record, this.#trees.get(id), this.#options.records.get(id)?.contents);
  }

  async list(filter: { owner_id: string } & Page): Promise<{ codebases: Codebase[]; next_page_token: string }> {
    const { items, next_page_token } = newestPage(
      scopeOf('codebases', [filter.owner_id]),
      (before) => this.#options.records.newestOf(filter.owner_id, before),
      () => true,
      filter,
      (record) => record,
    );
    const { records, log } = this.#options;
    const shown = ({ id }: CodebaseRecord) =>
      this.get(id).catch((error) => damagedCodebase(records.get(id), error, log));
    const found = await Promise.all(items.map(shown));
    return { codebases: found.filter((each) => each !== undefined), next_page_token };
  }

  /** Throws if the files are lost, or a commit of an earlier server cannot be finished. */
  async #look(id: string): Promise<void> {
    const hasTraces = await this.#storage.look(id);
    if (hasTraces && !this.#trees.get(id)?.isSettled) await this.#tree(id).finishCommit();
  }

  async delete(id: string): Promise<void> {
    this.require(id);
    refuseUsed(id, this.#connected.usedBy(id));
    await this.#tree(id).end(async () => {
      await this.#storage.markDeleting(id);
      try {
        // Those being destroyed have no record any more; sandboxes with a record are refused by the removal itself.
        refuseUsed(id, this.#connected.usedBy(id));
        await this.#options.records.remove(id);
      } catch (error) {
        await this.#storage.unmarkDeleting(id);
        throw error;
      }
    });
    this.#trees.delete(id);
    await this.#remove(id);
  }

  /** The codebase is deleted for all callers; files that cannot be removed now are removed at the next start. */
  async #remove(id: string): Promise<void> {
    try {
      await this.#storage.remove(id);
    } catch (error) {
      this.#options.log.error('files of a deleted codebase could not be removed', { codebase_id: id, err: error });
    }
  }

  async upload(
    id: string,
    path: string,
    content: AsyncIterable<Uint8Array>,
    options: { mode?: number; symlinkTarget?: string } = {},
  ): Promise<{ size: number; checksum: string }> {
    const parsed = parseFilePath('file_path', path);
    const mode = checkedMode(options.mode ?? 0o644);
    const target = options.symlinkTarget === undefined ? undefined : parseLinkTarget(options.symlinkTarget);
    const end = await this.#beginTransfer(id, UPLOAD_DESCRIPTORS);
    try {
      const tree = await this.#countedTree(id);
      return await tree.upload(parsed, content, target ?? mode);
    } catch (error) {
      return rethrow(error);
    } finally {
      end();
    }
  }

  async importArchive(id: string, mode: ImportMode, archive: AsyncIterable<Uint8Array>, onlyAt = '') {
    const end = await this.#beginTransfer(id, ARCHIVE_DESCRIPTORS);
    try {
      const tree = await this.#countedTree(id);
      const lists = () => this.#connected.usedBy(id).length > 0;
      const imported = { archive, mode, onlyAt, lists, owner: this.require(id).owner_id };
      return await importInto(tree, imported, this.#archives, this.#options.log);
    } catch (error) {
      return rethrow(error);
    } finally {
      end();
    }
  }

  exportArchive(id: string, path: string): Promise<ByteStream> {
    const begin = () => this.#beginTransfer(id, ARCHIVE_DESCRIPTORS);
    return exportArchive(this.filesPath(id), path, this.#archives.exports.of(this.require(id).owner_id), begin).catch(
      rethrow,
    );
  }

  async open(id: string, path: string): Promise<StoredFile> {
    const parsed = parseFilePath('file_path', path);
    const end = await this.#beginTransfer(id, DOWNLOAD_DESCRIPTORS);
    try {
      return await this.#tree(id).open(parsed, end);
    } catch (error) {
      end();
      return rethrow(error);
    }
  }

  /** Returns the function that ends the transfer. */
  async #beginTransfer(id: string, descriptors: number): Promise<() => void> {
    this.require(id);
    return (await this.#options.transfers?.begin(id, descriptors)) ?? (() => undefined);
  }

  /** See `TreeCommits.commit`. */
  async apply(id: string, plan: MakePlan): Promise<void> {
    await (await this.#countedTree(id)).apply(plan).catch(rethrow);
  }

  /** See `CodebaseTree.finishCommit`. */
  async finishCommit(id: string): Promise<void> {
    await this.#tree(id).finishCommit().catch(rethrow);
  }

  /**
   * Call after `open`, when the sandboxes are loaded. A commit that cannot be finished is retried before the codebase's
   * next change.
   */
  async finishCommits(): Promise<void> {
    for (const { id } of this.#options.records.values()) {
      if (!this.#storage.hasCommit(id)) continue;
      await this.#storage.clean(id, this.#options.log);
      await this.finishCommit(id).catch((err: unknown) =>
        this.#options.log.error('interrupted commit could not be finished', { codebase_id: id, err }),
      );
    }
  }

  /** Call when the server answers: removes what a crash left of uploads, in the background, until `close`. */
  clean(): Promise<void> {
    return this.#storage.cleanAll(this.#options.log, () => this.#closed);
  }

  /** Stores totals. Never rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.verifier.close();
    await Promise.all([...this.#trees.values()].map((tree) => tree.close()));
  }

  async removeFile(id: string, path: string): Promise<void> {
    const parsed = parseFilePath('file_path', path);
    await this.#tree(id).removeFile(parsed).catch(rethrow);
  }

  async listFiles(
    id: string,
    request: { path: string; recursive: boolean } & Page,
  ): Promise<{ files: FileInfo[]; next_page_token: string }> {
    return await this.#tree(id).listFiles(request).catch(rethrow);
  }

  get #connected(): CodebaseUsers {
    if (this.#users === undefined) throw new Error('connect comes before any call on files of a codebase');
    return this.#users;
  }

  /** For growth: all codebases of the owner have been counted, if that matters. */
  async #countedTree(id: string): Promise<CodebaseTree> {
    await this.#storage.clean(id, this.#options.log);
    await this.#quota.count(this.require(id).owner_id);
    return this.#tree(id);
  }

  async #finishGraft(owner: string, staging: string, files: string): Promise<void> {
    const { remote, release } = await this.#archives.finishing.of(owner).take();
    await remote.apply(staging, files).finally(release);
  }

  #tree(id: string): CodebaseTree {
    const { owner_id } = this.require(id);
    const known = this.#trees.get(id);
    if (known !== undefined) return known;
    const { limits = { maxBytes: 0, maxFiles: 0 }, reserve = 0, log } = this.#options;
    const tree = new CodebaseTree(id, this.#storage.directory(id), {
      ...{ ...this.#connected, reserve },
      checksums: this.#checksums,
      limits,
      share: this.#quota.shareOf(id, owner_id),
      graft: (staging, files) => this.#finishGraft(owner_id, staging, files),
      record: totalsRecord(this.#options.records, id),
      threads: this.#archives.commits.of(owner_id),
      syncDisk: this.#archives.syncDisk,
      log,
    });
    this.#trees.set(id, tree);
    return tree;
  }
}

function rethrow(error: unknown): never {
  throw diskError(error);
}
