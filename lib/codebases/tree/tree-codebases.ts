import { randomBytes } from 'node:crypto';
import type { Unzstd } from '../../archive/unzstd.ts';
import type { Codebase, FileInfo } from '../../contract/messages.ts';
import type { ImportMode } from '../../field-values.ts';
import { isId } from '../../ids.ts';
import { type OwnerLimitSource, unlimitedOwners } from '../../limits/stored-limits.ts';
import type { Log } from '../../log.ts';
import type { CodebaseRecord, CodebaseTable } from '../../metadata/metadata.ts';
import { refuseUsed } from '../../metadata/refuse-used.ts';
import { shownCodebase } from '../../metadata/shown.ts';
import { notFound } from '../../not-found.ts';
import { newestPage, type Page, scopeOf } from '../../paging.ts';
import type { ByteStream, StoredFile } from '../../readable-file.ts';
import type { Codebases, NewCodebase } from '../../services.ts';
import type { SharedThreads } from '../../threads/thread-pool.ts';
import { Transfers } from '../../transfers.ts';
import { checkedMode, parseFilePath, parseLinkTarget } from '../file-path.ts';
import { newRecord } from '../new-record.ts';
import type { CodebaseUsers } from '../options.ts';
import { OwnerQuota } from '../owner-quota.ts';
import { firstHead } from './create-codebase.ts';
import { exportTree } from './export-tree.ts';
import { importTree } from './import-tree.ts';
import { openStored } from './open-stored.ts';
import { RecordHeads } from './record-heads.ts';
import { sendContents } from './send-contents.ts';
import { storedHead } from './stored-head.ts';
import type { HeadKeeper, Listing, Place, TreeStores } from './stores/tree-stores.ts';
import { TreeFolders } from './tree-folders.ts';

export interface TreeCodebasesOptions {
  /** `storage.codebase_path`; created if absent. */
  readonly path: string;
  readonly records: CodebaseTable;
  /** Makes the stores, in threads of theirs or in this one. */
  readonly stores: (keeper: HeadKeeper) => TreeStores;
  readonly unzstd: SharedThreads<Unzstd>;
  /** Limits of the owners of codebases; absent: none. */
  readonly owners?: OwnerLimitSource;
  /** Admission of uploads and downloads; absent: unlimited. */
  readonly transfers?: Transfers;
  readonly log: Log;
  /** Wall-clock time in milliseconds since the epoch. */
  readonly now?: () => number;
}

/** The most descriptors of a call: a file that is written or read, and the pack of others. */
const DESCRIPTORS = 2;
/** Imports at once, as threads of a `ThreadPool`: each may hold 100,000 names in the memory of its store's thread. */
const IMPORTS = 9;

/** Codebases as versions of trees. What changes them runs in the threads of their stores; the heads are in the records here. */
export class TreeCodebases implements Codebases {
  readonly #options: TreeCodebasesOptions;
  readonly #folders: TreeFolders;
  readonly #heads: RecordHeads;
  readonly #quota: OwnerQuota;
  readonly #stores: TreeStores;
  readonly #imports = new Transfers(IMPORTS);
  #users: Pick<CodebaseUsers, 'usedBy'> | undefined;

  private constructor(options: TreeCodebasesOptions) {
    const { records, path, owners = unlimitedOwners(0) } = options;
    this.#options = options;
    this.#folders = new TreeFolders(path);
    this.#quota = new OwnerQuota(owners, {
      of: (ownerId) => records.ofOwner(ownerId).map(({ id }) => id),
      bytesOf: (id) => this.#heads.of(this.require(id)).root.totals.bytes,
      count: async () => undefined,
    });
    this.#heads = new RecordHeads(records, ({ id, owner_id }, growth) =>
      this.#quota.shareOf(id, owner_id).refusal(growth),
    );
    this.#stores = options.stores({
      advance: (id, from, to) => this.#heads.advance(id, from, to),
      garbageKept: async (id, why) => options.log.error('garbage was not removed', { codebase_id: id, reason: why }),
    });
  }

  /** Finishes what a crash interrupted. Call once, before any other use of the folder. Throws for a damaged record. */
  static async open(options: TreeCodebasesOptions): Promise<TreeCodebases> {
    const codebases = new TreeCodebases(options);
    for (const record of options.records.values()) {
      try {
        codebases.#heads.of(record);
      } catch (cause) {
        throw new Error(`storage.db_path: the head of ${record.id} is damaged: ${(cause as Error).message}`, { cause });
      }
    }
    await codebases.#folders.recover((id) => options.records.get(id) !== undefined, options.log);
    return codebases;
  }

  /** Call once, before the first call on files. */
  connect(users: Pick<CodebaseUsers, 'usedBy'>): void {
    this.#users = users;
  }

  /** NOT_FOUND, for ids of any form. Valid until the next await. */
  require(id: string): CodebaseRecord {
    const record = isId('cb', id) ? this.#options.records.get(id) : undefined;
    if (record === undefined) throw notFound('codebase', id);
    return record;
  }

  /** Its store is made when it is used first. */
  async create(request: NewCodebase): Promise<Codebase> {
    const { records, now = Date.now } = this.#options;
    const ms = now();
    const { contents, ...record } = newRecord(request, ms);
    const store = randomBytes(8).readBigUInt64LE() | 1n;
    const made = { ...record, tree: Object.freeze(storedHead(firstHead(store, ms))) };
    // In one turn: from here on it counts by its record.
    this.#quota.beginCreate(record.owner_id)();
    await records.put(made);
    return this.#shown(made);
  }

  async get(id: string): Promise<Codebase> {
    return this.#shown(this.require(id));
  }

  async list(filter: { owner_id: string } & Page): Promise<{ codebases: Codebase[]; next_page_token: string }> {
    const { items, next_page_token } = newestPage(
      scopeOf('codebases', [filter.owner_id]),
      (before) => this.#options.records.newestOf(filter.owner_id, before),
      () => true,
      filter,
      (record) => record,
    );
    return { codebases: items.map((record) => this.#shown(record)), next_page_token };
  }

  async delete(id: string): Promise<void> {
    this.require(id);
    refuseUsed(id, this.#usedBy(id));
    await this.#folders.marks.make(id);
    try {
      // Another one may have deleted it meanwhile.
      this.require(id);
      refuseUsed(id, this.#usedBy(id));
      // From here on no head moves.
      await this.#options.records.remove(id);
    } catch (error) {
      if (this.#options.records.get(id) !== undefined) await this.#folders.marks.remove(id);
      throw error;
    }
    await this.#stores.forget(id).catch(() => undefined);
    await this.#remove(id);
  }

  /** What cannot be removed now is removed at the next start. */
  async #remove(id: string): Promise<void> {
    try {
      await this.#folders.remove(id);
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
    parseFilePath('file_path', path);
    checkedMode(options.mode ?? 0);
    if (options.symlinkTarget !== undefined) parseLinkTarget(options.symlinkTarget);
    const at = () => this.#place(id);
    return this.#transfer(id, () => sendContents(this.#stores, at, path, options, content));
  }

  async importArchive(id: string, mode: ImportMode, archive: AsyncIterable<Uint8Array>, onlyAt = '') {
    const owner = this.require(id).owner_id;
    const end = await this.#imports.begin(owner, 1);
    const at = () => this.#place(id);
    const unzstd = this.#options.unzstd.of(owner);
    return this.#transfer(id, () => importTree(this.#stores, at, unzstd, { archive, mode, onlyAt })).finally(end);
  }

  exportArchive(id: string, path: string): Promise<ByteStream> {
    const begin = () => this.#beginTransfer(id);
    return exportTree(this.#stores, () => this.#place(id), path, begin);
  }

  async open(id: string, path: string): Promise<StoredFile> {
    parseFilePath('file_path', path);
    const end = await this.#beginTransfer(id);
    try {
      return await openStored(this.#stores, this.#place(id), path, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  async removeFile(id: string, path: string): Promise<void> {
    await this.#stores.remove(this.#place(id), path);
  }

  async listFiles(id: string, request: Listing): Promise<{ files: FileInfo[]; next_page_token: string }> {
    return this.#stores.list(this.#place(id), request);
  }

  /** Ends the threads of the stores. */
  async close(): Promise<void> {
    await this.#stores.close();
  }

  async #transfer<T>(id: string, run: () => Promise<T>): Promise<T> {
    const end = await this.#beginTransfer(id);
    try {
      return await run();
    } finally {
      end();
    }
  }

  /** Returns the function that ends the transfer. */
  async #beginTransfer(id: string): Promise<() => void> {
    this.require(id);
    return (await this.#options.transfers?.begin(id, DESCRIPTORS)) ?? (() => undefined);
  }

  #place(id: string): Place {
    const { tree, owner_id } = this.require(id);
    return { id, head: tree!, owner: this.#quota.of(owner_id) };
  }

  #usedBy(id: string): readonly string[] {
    if (this.#users === undefined) throw new Error('connect comes before any call on files of a codebase');
    return this.#users.usedBy(id);
  }

  #shown(record: CodebaseRecord): Codebase {
    const { files, bytes } = this.#heads.of(record).root.totals;
    return { ...shownCodebase(record), file_count: files, total_size: bytes, revision: record.tree!.version };
  }
}
