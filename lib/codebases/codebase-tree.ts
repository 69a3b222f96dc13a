import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type ByteString, quoteText } from '../byte-string.ts';
import type { FileInfo } from '../contract/messages.ts';
import type { Directory } from '../host-tree/directory.ts';
import { errorCode } from '../linux/errno.ts';
import type { Log } from '../log.ts';
import { notFound } from '../not-found.ts';
import type { Page } from '../paging.ts';
import type { StoredFile } from '../readable-file.ts';
import { SerialQueue } from '../serial-queue.ts';
import { removingLater } from './archive/import-archive.ts';
import { changedPaths } from './changed-paths.ts';
import type { Checksums } from './checksums.ts';
import { type Commit, CommitJournal, type Graft, type StageDone } from './commit-journal.ts';
import { notSynced } from './disk-errors.ts';
import type { FilePath } from './file-path.ts';
import { listFiles } from './list-files.ts';
import { notAll } from './not-all.ts';
import { type BaseObserver, type ObserveChange, observeBy } from './observe-change.ts';
import type { OwnerShare } from './owner-quota.ts';
import type { Imported, MakePlan, Plan, RebaseSandbox, TreeOptions } from './plan.ts';
import { putFile } from './put-file.ts';
import { Quota } from './quota.ts';
import { discard, type Received, receive, receiveLink } from './receive.ts';
import { removeFile } from './remove-file.ts';
import { filesLost, resolveAll } from './resolve-path.ts';
import { openFile } from './stored-file.ts';
import { type Contents, Totals } from './totals.ts';

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
  readonly #watcher: BaseObserver;
  readonly #observe: ObserveChange;
  readonly #checksums: Checksums;
  readonly #changes = new SerialQueue();
  readonly #totals = new Totals();
  readonly #quota: Quota;
  readonly #share: OwnerShare;
  readonly #journal: CommitJournal;
  readonly #rebase: RebaseSandbox;
  readonly #graft: Graft;
  readonly #log: Log;
  #gone = false;
  /** An import that was made, and whose journal is still there. */
  #ending: Commit | undefined;
  /** Whether a prepared commit may be unfinished; it must be finished before any other change. */
  #unfinished = true;

  constructor(
    id: string,
    directory: string,
    { watcher, checksums, rebase, certain, limits, share, graft, log }: TreeOptions,
  ) {
    this.#id = id;
    this.#rebase = rebase;
    this.#graft = graft;
    this.#log = log;
    this.files = join(directory, FILES);
    this.incoming = join(directory, INCOMING);
    this.#watcher = watcher;
    this.#observe = observeBy(watcher, id);
    this.#checksums = checksums;
    this.#journal = new CommitJournal(directory, this.files, certain);
    this.#quota = new Quota(limits, this.#totals, this.files, share);
    this.#share = share;
  }

  /**
   * The number of files and directories, and the bytes. Counts the tree at the first call, and after a failed change.
   */
  totals(): Promise<Readonly<Contents>> {
    return this.#change(() => this.#totals.count(this.files));
  }

  /** The most that it may hold. */
  async most(): Promise<{ bytes: number; entries: number }> {
    await this.totals();
    return this.#quota.most;
  }

  /** Bytes as last counted; undefined: they were not counted yet. */
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
    return (size) => {
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

  /**
   * Makes many changes atomically. `plan` stages contents in the given directory and returns the steps and the touched
   * paths; nothing else changes the files meanwhile. After each stage, before the observer is notified, the sandbox is
   * rebased. Once prepared, the commit will be finished in the codebase and in the sandbox, by the next server if
   * necessary.
   */
  async apply(plan: MakePlan, imported?: Imported): Promise<void> {
    await this.#change(async () => {
      await this.#journal.begin(imported?.staging);
      let leftOut: ByteString[] = [];
      try {
        const { paths, removed, growth, ...planned } = await plan(
          this.#journal.staging,
          (more) => this.#quota.admit(more),
          () => this.#totals.count(this.files),
        );
        const commit = { id: randomUUID(), ...planned };
        if (commit.graft || commit.givenUp.length > 0 || commit.stages.some(({ steps }) => steps.length > 0)) {
          await this.#quota.admit(growth);
          // A crash after `prepare` would skip it, as the paths are not in the journal.
          if (commit.graft && removed.length > 0) await this.#watcher.baseRemoving(this.#id, removed);
          await this.#journal.prepare(commit, commit.graft);
          leftOut = await this.#applyCommit(commit, { paths, removed, graft: imported?.graft }, growth);
        }
        // An import is certain; its end follows before the next change.
        if (commit.graft) this.#ending = commit;
        else await this.#journal.end();
      } catch (error) {
        if (this.#journal.isPrepared) this.#unfinished = true;
        else await this.#abandon();
        throw error;
      }
      if (leftOut.length > 0) throw notAll(leftOut);
    });
    if (this.#ending !== undefined) this.#change(async () => undefined).catch(() => undefined);
  }

  async #applyCommit(
    commit: Commit,
    { paths, removed, graft = this.#graft }: Pick<Plan, 'paths' | 'removed'> & { graft?: Graft | undefined },
    growth?: Readonly<Contents>,
  ): Promise<ByteString[]> {
    const resumed = growth === undefined;
    const done: StageDone = (of, stage) => this.#rebase(of, stage, resumed);
    let leftOut: ByteString[] = [];
    const change = async () => {
      try {
        leftOut = await this.#journal.apply(commit, done, graft);
      } catch (error) {
        this.#totals.forget();
        throw error;
      }
      if (growth === undefined || leftOut.length > 0) this.#totals.forget();
      else if (commit.graft) this.#totals.add(growth);
      else this.#totals.committed(growth);
    };
    const coming = { removed, removalsObserved: true, by: commit.sandboxId };
    await this.#observe(paths, change, coming);
    return leftOut;
  }

  /**
   * Finishes a commit that a crash or a disk failure interrupted after its preparation, and removes the remains of one
   * interrupted before.
   */
  async #finish(): Promise<void> {
    const commit = await this.#journal.unfinished();
    if (commit === undefined) {
      await this.#abandon();
    } else {
      const paths = changedPaths(commit);
      const leftOut = await this.#applyCommit(commit, { paths, removed: commit.graft ? [] : paths });
      await this.#end(commit);
      const ids = { codebase_id: this.#id, sandbox_id: commit.sandboxId };
      this.#log.info('finished an interrupted commit', ids);
      if (leftOut.length > 0) this.#log.error('commit applied incompletely', { ...ids, err: notAll(leftOut) });
    }
    this.#unfinished = false;
  }

  async #end({ graft }: Commit): Promise<void> {
    if (!graft) return this.#journal.end();
    // What an import leaves may be a million files.
    await removingLater(this.incoming, (aside) => this.#journal.end(aside), this.#log);
    this.#ending = undefined;
  }

  #abandon(): Promise<void> {
    return removingLater(this.incoming, (aside) => this.#journal.abandon(aside), this.#log);
  }

  /** Finishes a commit that is prepared and unfinished. Throws if that is impossible. */
  async finishCommit(): Promise<void> {
    if (this.#unfinished) await this.#change(async () => undefined);
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
    });
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#gone) throw notFound('codebase', this.#id);
      try {
        if (this.#ending !== undefined) await this.#end(this.#ending);
        if (this.#unfinished) await this.#finish();
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
