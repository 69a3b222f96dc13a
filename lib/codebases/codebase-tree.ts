import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { ByteString } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import type { Directory } from '../host-tree/directory.ts';
import type { Log } from '../log.ts';
import type { FileInfo } from '../messages.ts';
import type { Page } from '../paging.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { StoredFile } from '../services.ts';
import { type Announce, announceTo, type BaseWatcher } from './announce.ts';
import { changedPaths } from './changed-paths.ts';
import type { Checksums } from './checksums.ts';
import { type Commit, CommitJournal, type StageDone } from './commit-journal.ts';
import { errnoOf, notSynced } from './disk-errors.ts';
import { type FilePath, shown, textOf } from './file-path.ts';
import { listFiles } from './list-files.ts';
import { putFile } from './put-file.ts';
import { type CodebaseLimits, Quota } from './quota.ts';
import { filesLost, reachAll } from './reach.ts';
import { discard, type Received, receive } from './receive.ts';
import { removeFile } from './remove-file.ts';
import { openFile } from './stored-file.ts';
import { type Contents, Totals } from './totals.ts';

/** Below the directory of a codebase: what is seen, and beside it what is not yet. */
export const FILES = 'files';
export const INCOMING = 'tmp';

/** What `apply` is to do, stage after stage, and every path that it touches. */
export interface Plan extends Pick<Commit, 'stages' | 'givenUp'> {
  sandboxId: string;
  paths: readonly ByteString[];
  /** What the codebase holds more when it is done. */
  growth: Readonly<Contents>;
}

/** Throws RESOURCE_EXHAUSTED when the codebase may not hold so much more; to be asked before contents are staged. */
export type Admit = (growth: Readonly<Contents>) => Promise<void>;

/** Has the sandbox of a commit let go of what the codebase has from now on. `resumed`: the commit was under way before. */
export type RebaseSandbox = (commit: Commit, stage: number, resumed: boolean) => Promise<void>;

/**
 * The files of one codebase. Content streams in concurrently; changes that can be seen are made one at a time, so that
 * checks, totals and what the watcher is told hold for each.
 */
export class CodebaseTree {
  readonly #id: string;
  readonly #files: string;
  readonly #incoming: string;
  readonly #announce: Announce;
  readonly #checksums: Checksums;
  readonly #changes = new SerialQueue();
  readonly #totals = new Totals();
  readonly #quota: Quota;
  readonly #journal: CommitJournal;
  readonly #rebase: RebaseSandbox;
  readonly #log: Log;
  #gone = false;
  /** A commit may be prepared and not finished: that comes before anything else. */
  #unfinished = true;

  constructor(
    id: string,
    directory: string,
    {
      watcher,
      checksums,
      rebase,
      limits,
      log,
    }: { watcher: BaseWatcher; checksums: Checksums; rebase: RebaseSandbox; limits: CodebaseLimits; log: Log },
  ) {
    this.#id = id;
    this.#rebase = rebase;
    this.#log = log;
    this.#files = join(directory, FILES);
    this.#incoming = join(directory, INCOMING);
    this.#announce = announceTo(watcher, id);
    this.#checksums = checksums;
    this.#journal = new CommitJournal(directory, this.#files);
    this.#quota = new Quota(limits, this.#totals, this.#files);
  }

  totals(): Promise<Readonly<Contents>> {
    return this.#change(() => this.#totals.count(this.#files));
  }

  async upload(
    path: FilePath,
    content: AsyncIterable<Uint8Array>,
    mode: number,
  ): Promise<{ size: number; checksum: string }> {
    const admit = this.#admitUpTo(path);
    const received = await receive(this.#incoming, content, mode, admit).catch((error) => this.#fail(error));
    try {
      const directory = await this.#change(() => this.#put(path, received));
      // Outside of the queue: waits for the disk are shared by those who wait at once.
      const sync = directory.sync().catch(notSynced(`${shown(path.text)} is stored`));
      await sync.finally(() => directory.close());
      return { size: received.size, checksum: received.checksum };
    } finally {
      await discard(received);
    }
  }

  /**
   * Refuses content that is too large while it comes, so that it does not fill the disk. What comes at the same time is
   * not counted here, but when each is put in its place. The queue is waited for only where there may be no room.
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
    const reached = await reachAll(this.#files, path.parents);
    if (reached === undefined) return 0;
    const found = await reached.directory.lstat(path.name).finally(() => reached.directory.close());
    return found === undefined || found.isDirectory() ? 0 : Number(found.size);
  }

  async #put(path: FilePath, received: Received): Promise<Directory> {
    const directory = await putFile(this.#files, path, received, this.#announce, {
      totals: this.#totals,
      quota: this.#quota,
    });
    // Not before: being moved changed its ctime.
    this.#checksums.remember(await received.handle.stat({ bigint: true }), received.checksum);
    return directory;
  }

  open(path: FilePath): Promise<StoredFile> {
    return openFile(this.#files, path, this.#checksums).catch((error) => this.#fail(error));
  }

  /**
   * Many changes as one. `plan` stages contents in the directory it is given and says what to do and which paths that
   * touches; nothing else changes the files meanwhile. After each stage, and before the watcher is told, the sandbox is
   * rebased. Once all is prepared it is finished, in the codebase and in the sandbox, by the next server if need be.
   */
  apply(plan: (staging: string, admit: Admit) => Promise<Plan>): Promise<void> {
    return this.#change(async () => {
      await this.#journal.begin();
      let prepared = false;
      let leftOut: ByteString[] = [];
      try {
        const { paths, growth, ...planned } = await plan(this.#journal.staging, (more) => this.#quota.admit(more));
        const commit = { id: randomUUID(), ...planned };
        if (commit.givenUp.length > 0 || commit.stages.some(({ steps }) => steps.length > 0)) {
          await this.#quota.admit(growth);
          await this.#journal.prepare(commit);
          prepared = true;
          leftOut = await this.#applyCommit(commit, paths, false, growth);
        }
        await this.#journal.end();
      } catch (error) {
        if (!prepared) await this.#journal.abandon();
        else this.#unfinished = true;
        throw error;
      }
      if (leftOut.length > 0) throw notAll(leftOut);
    });
  }

  async #applyCommit(
    commit: Commit,
    paths: readonly ByteString[],
    resumed: boolean,
    growth?: Readonly<Contents>,
  ): Promise<ByteString[]> {
    const done: StageDone = (of, stage) => this.#rebase(of, stage, resumed);
    let leftOut: ByteString[] = [];
    await this.#announce(paths, async () => {
      try {
        leftOut = await this.#journal.apply(commit, done);
      } catch (error) {
        this.#totals.forget();
        throw error;
      }
      if (growth === undefined || leftOut.length > 0) this.#totals.forget();
      else this.#totals.committed(growth);
    });
    return leftOut;
  }

  /** Finishes what a crash, or a failure of the disk, left prepared, and removes what it left before that. */
  async #finish(): Promise<void> {
    const commit = await this.#journal.unfinished();
    if (commit === undefined) {
      await this.#journal.abandon();
    } else {
      const leftOut = await this.#applyCommit(commit, changedPaths(commit), true);
      await this.#journal.end();
      const ids = { codebase_id: this.#id, sandbox_id: commit.sandboxId };
      this.#log.info('finished a commit that was under way', ids);
      if (leftOut.length > 0) this.#log.error('a commit could not be made in whole', { ...ids, err: notAll(leftOut) });
    }
    this.#unfinished = false;
  }

  /** Finishes a commit that is prepared and not finished. Throws when it cannot be. */
  async finishCommit(): Promise<void> {
    if (this.#unfinished) await this.#change(async () => undefined);
  }

  removeFile(path: FilePath): Promise<void> {
    return this.#change(() => removeFile(this.#files, path, this.#announce, this.#totals));
  }

  listFiles(
    request: { path: string; recursive: boolean } & Page,
  ): Promise<{ files: FileInfo[]; next_page_token: string }> {
    return listFiles(this.#files, this.#id, request).catch((error) => this.#fail(error));
  }

  /** Runs `remove` when the changes before it are done; when it succeeds, no change is made any more. */
  end(remove: () => Promise<void>): Promise<void> {
    // Not after finishing a commit: what cannot be finished can still be deleted.
    return this.#changes.run(async () => {
      if (this.#gone) throw notFound(this.#id);
      await remove();
      this.#gone = true;
    });
  }

  #change<T>(change: () => Promise<T>): Promise<T> {
    return this.#changes.run(async () => {
      if (this.#gone) throw notFound(this.#id);
      if (this.#unfinished) await this.#finish();
      return change();
    });
  }

  /** What fails because the codebase is being removed under it is told as what it is. */
  #fail(error: unknown): never {
    if (this.#gone) throw notFound(this.#id);
    // What is missing of the caller's was looked for by name, and told as such.
    throw errnoOf(error) === 'ENOENT' ? filesLost(error) : error;
  }
}

/** The plan of a commit rules it out; a journal of an older server may have it. */
function notAll(leftOut: readonly ByteString[]): ServiceError {
  const count = leftOut.length > 1 ? ` and ${leftOut.length - 1} more` : '';
  return new ServiceError(
    'FAILED_PRECONDITION',
    `the commit is made but for ${shown(textOf(leftOut[0]!))}${count}: the codebase has an entry of another type in the way`,
  );
}

export function notFound(id: string): ServiceError {
  const shown = id.length > 64 ? `${id.slice(0, 64)}…` : id;
  return new ServiceError('NOT_FOUND', `codebase ${JSON.stringify(shown)} does not exist`);
}
