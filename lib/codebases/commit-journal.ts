import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ByteString, fromLatin1 } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { removeTree } from '../host-tree/remove-tree.ts';
import { type SyncDisk, syncDisk } from '../linux/disk-sync.ts';
import { errorCode, ignoreAbsent } from '../linux/errno.ts';
import type { Remote } from '../threads/thread-pool.ts';
import type { RebasedPath } from '../workspaces/workspaces.ts';
import { type CommitFiles, MAX_ITEMS } from './commits/commit-files.ts';
import type { Step } from './commits/commit-steps.ts';

export const JOURNAL = 'commit.json';
export const STAGING = 'commit';

/** Items of a list in one piece of the journal's text. */
const ITEMS_PER_PIECE = 1024;

/** A stage of a commit: its steps in the codebase, and the paths to rebase in the sandbox after them. */
interface CommitStage {
  steps: readonly Step[];
  /** Paths to rebase. */
  settled: readonly RebasedPath[];
}

/** All data needed to finish a commit, in the codebase and in its sandbox. The field names are those of the file. */
export interface Commit {
  id: string;
  /** Absent in a journal of a server that did not finish commits in sandboxes. */
  sandboxId?: string;
  stages: readonly CommitStage[];
  /** Paths to revert in the sandbox after the last stage. */
  givenUp: readonly ByteString[];
  /** Of an import: the steps are in a file of the staging directory, beside the tree that they bring in. */
  graft?: boolean;
  /** Of a request with an idempotency key: its intent (lib/retries), and the answer to it. */
  intent?: string;
  answer?: unknown;
}

/**
 * Called after the steps of each stage and, if paths are reverted, once more with the number of stages. May be called
 * again for the same stage after a crash.
 */
export type StageDone = (commit: Commit, stage: number) => Promise<void>;

/** Makes the steps of an import; see `applyGraft`. */
export type Graft = (staging: string, files: string) => Promise<void>;

/**
 * Called when a commit that was requested with an idempotency key is certain, before its journal can be removed: it is
 * prepared, or was found prepared after a restart. Never rejects.
 */
export type CommitCertain = (intent: string, answer: unknown) => Promise<void>;

/**
 * Changes many files of a codebase atomically: all content is staged and synced, then the journal with the steps is
 * written. From then on the commit will be finished, by this server or the next; before that, nothing has changed.
 */
export class CommitJournal {
  readonly #directory: string;
  readonly #files: string;
  readonly #certain: CommitCertain;
  readonly #syncDisk: SyncDisk;
  readonly staging: string;
  #isPrepared = false;

  /** `directory`: that of the codebase; `files`: its visible files. Both must be on one file system. */
  constructor(
    directory: string,
    files: string,
    certain: CommitCertain = async () => undefined,
    sync: SyncDisk = syncDisk,
  ) {
    this.#directory = directory;
    this.#files = files;
    this.#certain = certain;
    this.#syncDisk = sync;
    this.staging = join(directory, STAGING);
  }

  /** Creates an empty staging directory, or takes one over that is on the same file system. */
  async begin(staged?: string): Promise<void> {
    this.#isPrepared = false;
    await removeTree(this.staging);
    if (staged === undefined) await mkdir(this.staging, { mode: 0o700 });
    else await rename(staged, this.staging);
  }

  /** Whether the journal of the commit may be in place, even if `prepare` failed: the commit must not be abandoned. */
  get isPrepared(): boolean {
    return this.#isPrepared;
  }

  /**
   * Durable when it resolves: from here on the steps will be made, even after a crash. `remote`: absent if the staged contents
   * are durable already, but for their directory's new name.
   */
  async prepare(commit: Commit, remote?: Remote<CommitFiles>): Promise<void> {
    const path = join(this.#directory, JOURNAL);
    const handle = await open(`${path}.new`, 'w', 0o600);
    try {
      for (const piece of journalText(commit)) await handle.appendFile(piece);
      if (remote === undefined) await handle.sync();
    } finally {
      await handle.close();
    }
    // With the new names of both.
    if (remote === undefined) await syncDirectory(this.#directory);
    else await this.#sync(commit, remote);
    this.#isPrepared = true;
    await rename(`${path}.new`, path);
    await syncDirectory(this.#directory);
    await this.#isCertain(commit);
  }

  /**
   * Makes the steps, stage by stage. All of it can be repeated after a crash. Returns the paths at which an entry of
   * another type prevented a step; the codebase keeps its entries there.
   */
  async apply(commit: Commit, done: StageDone, by: Graft | Remote<CommitFiles>): Promise<ByteString[]> {
    const leftOut: ByteString[] = [];
    if (typeof by === 'function') await by(this.staging, this.#files);
    for (const [index, { steps }] of commit.stages.entries()) {
      for (let from = 0; from < steps.length && typeof by !== 'function'; from += MAX_ITEMS) {
        leftOut.push(...(await by.apply(this.#files, this.staging, steps.slice(from, from + MAX_ITEMS))));
      }
      await done(commit, index);
    }
    if (commit.givenUp.length > 0) await done(commit, commit.stages.length);
    return leftOut;
  }

  /**
   * Removes the journal, and moves the staging directory to `aside`. Call after every stage of the commit is in the codebase.
   */
  async end(aside: string): Promise<void> {
    await this.#syncDisk(this.#directory);
    await rm(join(this.#directory, JOURNAL), { force: true });
    await rename(this.staging, aside).catch(ignoreAbsent);
  }

  /** Moves the staged contents of a commit that was not prepared, if there are any, to `aside`. */
  async abandon(aside: string): Promise<void> {
    await rm(join(this.#directory, `${JOURNAL}.new`), { force: true });
    await rename(this.staging, aside).catch(ignoreAbsent);
  }

  /**
   * Returns the commit that a crash or disk failure left prepared and unfinished. Throws DATA_LOSS if its journal is
   * damaged.
   */
  async unfinished(): Promise<Commit | undefined> {
    let text: string;
    try {
      text = await readFile(join(this.#directory, JOURNAL), 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    const commit = parseCommit(text);
    await this.#isCertain(commit);
    return commit;
  }

  /** Makes what is staged durable, and the journal with its new name. */
  async #sync(commit: Commit, remote: Remote<CommitFiles>): Promise<void> {
    const names = fewPuts(commit);
    const journal = fromLatin1(`${JOURNAL}.new`);
    if (names !== undefined && (await remote.syncFew(this.#directory, this.staging, journal, names))) return;
    await this.#syncDisk(this.staging);
  }

  async #isCertain({ intent, answer }: Commit): Promise<void> {
    if (intent !== undefined) await this.#certain(intent, answer);
  }
}

/** The names of what is put in place; undefined: too many to list, or in a directory whose own name is not durable yet. */
function fewPuts({ stages }: Commit): ByteString[] | undefined {
  const names: ByteString[] = [];
  for (const { steps } of stages) {
    if (steps.length > MAX_ITEMS) return undefined;
    for (const step of steps) {
      if (step[0] !== 'put') continue;
      if (step[2].includes('/')) return undefined;
      names.push(step[2]);
    }
  }
  return names;
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

/**
 * The JSON text of the commit, in pieces: that of 100,000 changes has 20 MB. Its parts are in the order of the fields.
 */
function* journalText({ stages, ...fields }: Commit): Generator<string> {
  yield `${JSON.stringify(fields).slice(0, -1)},"stages":[`;
  for (const [index, { steps, settled }] of stages.entries()) {
    yield `${index === 0 ? '' : ','}{"steps":[`;
    yield* listText(steps);
    yield '],"settled":[';
    yield* listText(settled);
    yield ']}';
  }
  yield ']}';
}

function* listText(items: readonly unknown[]): Generator<string> {
  for (let from = 0; from < items.length; from += ITEMS_PER_PIECE) {
    const text = JSON.stringify(items.slice(from, from + ITEMS_PER_PIECE));
    yield `${from === 0 ? '' : ','}${text.slice(1, -1)}`;
  }
}

/** The journal of an older server is the list of its steps. */
function parseCommit(text: string): Commit {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged(cause);
  }
  if (Array.isArray(value)) return { id: '', stages: [{ steps: value as Step[], settled: [] }], givenUp: [] };
  const commit = value as Partial<Commit> | null;
  if (typeof commit !== 'object' || !Array.isArray(commit?.stages) || !Array.isArray(commit.givenUp)) throw damaged();
  return commit as Commit;
}

function damaged(cause?: unknown): ServiceError {
  const message = `the codebase has a damaged commit journal (${JOURNAL}); an operator must repair or remove it`;
  return new ServiceError('DATA_LOSS', message, [], { cause });
}
