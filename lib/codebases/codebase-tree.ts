import { join } from 'node:path';
import { quoteText } from '../byte-string.ts';
import type { FileInfo } from '../contract/messages.ts';
import type { Directory } from '../host-tree/directory.ts';
import { UploadRoom } from '../host-tree/upload-room.ts';
import { errorCode } from '../linux/errno.ts';
import { notFound } from '../not-found.ts';
import type { Page } from '../paging.ts';
import type { StoredFile } from '../readable-file.ts';
import { SerialQueue } from '../serial-queue.ts';
import { otherRevision } from './archive/refused-imports.ts';
import type { Checksums } from './checksums.ts';
import type { Graft } from './commit-journal.ts';
import { TreeCommits } from './commits/tree-commits.ts';
import { notSynced } from './disk-errors.ts';
import type { FilePath } from './file-path.ts';
import { KeptTotals } from './kept-totals.ts';
import { listFiles } from './list-files.ts';
import { type ObserveChange, observeBy } from './observe-change.ts';
import type { OwnerShare } from './owner-quota.ts';
import type { MakePlan, PlanImport, TreeOptions } from './plan.ts';
import { putFile } from './put-file.ts';
import { Quota } from './quota.ts';
import { discard, type Received, receive, receiveLink } from './receive.ts';
import { removeFile } from './remove-file.ts';
import { filesLost, resolveAll } from './resolve-path.ts';
import { openFile } from './stored-file.ts';
import type { Contents, Totals } from './totals.ts';

/** Directory names below that of a codebase: the visible files, and beside them files in preparation. */
export const FILES = 'files';
export const INCOMING = 'tmp';

/**
 * The files of one codebase. Contents are received concurrently; visible changes are made one at a time, so that
 * checks, totals and notifications are consistent for each.
 */
export class CodebaseTree {
  readonly #id: string;
  /** Host directory of the visible files. */
  readonly files: string;
  /** Host directory of files in preparation, on the same file system. */
  readonly incoming: string;
  readonly #observe: ObserveChange;
  readonly #checksums: Checksums;
  readonly #changes = new SerialQueue();
  readonly #kept: KeptTotals;
  readonly #totals: Totals;
  readonly #quota: Quota;
  readonly #share: OwnerShare;
  readonly #room: UploadRoom;
  readonly #commits: TreeCommits;
  #gone = false;

  constructor(id: string, directory: string, options: TreeOptions) {
    const { watcher, checksums, limits, reserve = 0, share, record, log } = options;
    this.#id = id;
    this.files = join(directory, FILES);
    this.incoming = join(directory, INCOMING);
    this.#kept = new KeptTotals(this.files, record, log);
    this.#totals = this.#kept.totals;
    this.#observe = this.#kept.around(observeBy(watcher, id));
    this.#checksums = checksums;
    this.#quota = new Quota(limits, this.#kept, share);
    this.#share = share;
    this.#room = new UploadRoom(directory, reserve);
    const { files, incoming } = this;
    const parts = { observe: this.#observe, kept: this.#kept, quota: this.#quota };
    this.#commits = new TreeCommits({ id, directory, files, incoming }, parts, options);
  }

  /** The number of files and directories, and the bytes, for growth. Counts them if they are not known. */
  totals(): Promise<Readonly<Contents>> {
    return this.#change(() => this.#kept.count());
  }

  /** The totals as known last, without a count or a wait; undefined: they were never counted. */
  get lastTotals(): Readonly<Contents> | undefined {
    return this.#totals.last;
  }

  /** Whether `lastTotals` have all changes through the service. */
  get hasCurrentTotals(): boolean {
    return this.#totals.isCurrent;
  }

  /** See `KeptTotals`. */
  get revision(): string {
    return this.#kept.revision;
  }

  /** Whether no commit of an earlier server may be unfinished. */
  get isSettled(): boolean {
    return this.#commits.isSettled;
  }

  /** See `KeptTotals`. */
  verify(isPaced: boolean): Promise<void> {
    return this.#kept.verify(isPaced);
  }

  /** Ends the last commit, unless that failed before, and stores the totals. Nothing is done after it resolves. */
  async close(): Promise<void> {
    // The next server may run already when this one ends a commit.
    if (this.#commits.isSettled) await this.finishCommit().catch(() => undefined);
    await this.#kept.close();
  }

  /** The most that it may hold. */
  async most(): Promise<{ bytes: number; entries: number; ofDisk: boolean }> {
    await this.totals();
    const { bytes, entries } = this.#quota.most;
    const room = (this.#totals.known?.bytes ?? 0) + this.#room.bytes;
    return { bytes: Math.min(bytes, room), entries, ofDisk: room < bytes };
  }

  /** See `Totals`. */
  get lastBytes(): number | undefined {
    return this.#totals.lastBytes;
  }

  /**
   * Replaces or creates a file, with its missing parent directories. Atomic; durable when it resolves. `as`: permission
   * bits, or the target of a symlink. RESOURCE_EXHAUSTED: the quota of the codebase or a full disk.
   */
  async upload(
    path: FilePath,
    content: AsyncIterable<Uint8Array>,
    as: number | Buffer,
  ): Promise<{ size: number; checksum: string }> {
    void this.#kept.expectChange();
    const receiving =
      typeof as === 'number'
        ? receive(this.incoming, content, as, this.#admitUpTo(path))
        : receiveLink(this.incoming, content, as);
    const received = await receiving.catch((error) => this.#fail(error));
    try {
      const directory = await this.#change(() => this.#put(path, received));
      // Outside of the queue, so that concurrent callers share the wait for the disk.
      const sync = directory.sync().catch(notSynced(`${quoteText(path.text)} is stored`));
      await sync.finally(() => directory.close());
      return { size: received.size, checksum: received.checksum };
    } finally {
      await discard(received);
    }
  }

  /**
   * Refuses content that is too large while it is received, so that it does not fill the disk. Concurrent uploads are
   * not counted here, but when each is put in place. Waits for the queue only if the limit might be exceeded.
   */
  #admitUpTo(path: FilePath): (size: number) => Promise<void> | undefined {
    let room = this.#quota.room ?? 0;
    const requireRoom = this.#room.admitting();
    return (size) => {
      requireRoom(size);
      if (size <= room) return undefined;
      return this.#change(async () => {
        const replaced = await this.#sizeOf(path);
        await this.#quota.admit({ bytes: size - replaced, files: 0, directories: 0 });
        room = (this.#quota.room ?? 0) + replaced;
      });
    };
  }

  async #sizeOf(path: FilePath): Promise<number> {
    const reached = await resolveAll(this.files, path.parents);
    if (reached === undefined) return 0;
    const found = await reached.directory.lstat(path.name).finally(() => reached.directory.close());
    return found === undefined || found.isDirectory() ? 0 : Number(found.size);
  }

  async #put(path: FilePath, received: Received): Promise<Directory> {
    const directory = await putFile(this.files, path, received, this.#observe, {
      totals: this.#totals,
      quota: this.#quota,
    });
    // Only now: the rename changed its ctime.
    const { handle, checksum } = received;
    if (handle !== undefined) this.#checksums.remember(await handle.stat({ bigint: true }), checksum);
    return directory;
  }

  /** Opens one version of a file for reading. NOT_FOUND; the caller closes it. `closed`: called after the close. */
  open(path: FilePath, closed: () => void): Promise<StoredFile> {
    return openFile(this.files, path, this.#checksums, closed).catch((error) => this.#fail(error));
  }

  /** See `TreeCommits.commit`. */
  async apply(plan: MakePlan): Promise<void> {
    void this.#kept.expectChange();
    await this.#change(() => this.#commits.commit(plan));
    this.#endLater();
  }

  /** See `TreeCommits.import`. ABORTED: it has not the revision `onlyAt`; empty: any. Returns the revision afterwards. */
  async import(staging: string, plan: PlanImport, graft: Graft, onlyAt: string): Promise<string> {
    const revision = await this.#change(async () => {
      if (onlyAt !== '' && onlyAt !== this.revision) throw otherRevision(onlyAt);
      await this.#commits.import(staging, plan, graft);
      return this.revision;
    });
    this.#endLater();
    return revision;
  }

  /** Unless another change does so first. */
  #endLater(): void {
    this.finishCommit().catch(() => undefined);
  }

  /** Finishes a commit that is prepared and has not ended. Throws if that is impossible. */
  async finishCommit(): Promise<void> {
    if (this.#commits.isPending) await this.#change(async () => undefined);
  }

  /** Removes a file or symlink, and the parent directories that become empty. NOT_FOUND. */
  removeFile(path: FilePath): Promise<void> {
    return this.#change(() => removeFile(this.files, path, this.#observe, this.#totals));
  }

  /** A page of files in byte order of their paths. NOT_FOUND: the path; INVALID_ARGUMENT: the page token. */
  listFiles(
    request: { path: string; recursive: boolean } & Page,
  ): Promise<{ files: FileInfo[]; next_page_token: string }> {
    return listFiles(this.files, this.#id, request).catch((error) => this.#fail(error));
  }

  /** Runs `remove` after all previous changes; if it succeeds, later changes are refused. */
  end(remove: () => Promise<void>): Promise<void> {
    // Does not finish a commit first: a codebase with an unfinishable commit can still be deleted.
    return this.#changes.run(async () => {
      if (this.#gone) throw notFound('codebase', this.#id);
      await remove();
      this.#gone = true;
      await this.#kept.close();
    });
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#gone) throw notFound('codebase', this.#id);
      try {
        if (this.#commits.isPending) await this.#commits.finish();
        return await change();
      } finally {
        this.#share.release();
      }
    });
  }

  /** Replaces an error caused by the concurrent removal of the codebase by NOT_FOUND. */
  #fail(error: unknown): never {
    if (this.#gone) throw notFound('codebase', this.#id);
    // A missing path of the caller's was reported by name already.
    throw errorCode(error) === 'ENOENT' ? filesLost(error) : error;
  }
}
