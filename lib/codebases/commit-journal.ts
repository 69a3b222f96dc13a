import { execFile } from 'node:child_process';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ByteString } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { removeTree } from '../host-tree/remove-tree.ts';
import type { Settled } from '../workspaces/workspaces.ts';
import { applySteps, type Step } from './commit-steps.ts';
import { errnoOf } from './disk-errors.ts';

export const JOURNAL = 'commit.json';
export const STAGING = 'commit';

const run = promisify(execFile);

/** A part of a commit: what is done to the codebase, and where the sandbox then has what the codebase has. */
interface CommitStage {
  steps: readonly Step[];
  settled: readonly Settled[];
}

/** All that is needed to finish a commit, in the codebase and in the sandbox it comes from. */
export interface Commit {
  id: string;
  /** Absent in a journal of a server that did not finish commits in sandboxes. */
  sandboxId?: string;
  stages: readonly CommitStage[];
  /** Paths at which the sandbox gives up its own version at the end. */
  givenUp: readonly ByteString[];
}

/**
 * Called when the steps of a stage are done and, where paths are given up, once more with the number of stages. May be
 * called again for the same stage after a crash.
 */
export type StageDone = (commit: Commit, stage: number) => Promise<void>;

/**
 * Many changes of a codebase's files as one: all content is staged and synced, then the journal, which says what is to
 * be done, comes to be whole. From then on it is finished, by this server or the next; before, nothing has happened.
 */
export class CommitJournal {
  readonly #directory: string;
  readonly #files: string;
  readonly staging: string;

  /** `directory`: of the codebase; `files`: what is seen of it. Both on one file system. */
  constructor(directory: string, files: string) {
    this.#directory = directory;
    this.#files = files;
    this.staging = join(directory, STAGING);
  }

  /** An empty staging directory. */
  async begin(): Promise<void> {
    await removeTree(this.staging);
    await mkdir(this.staging, { mode: 0o700 });
  }

  /** Durable on return: from here on the steps are made, whatever happens. */
  async prepare(commit: Commit): Promise<void> {
    const path = join(this.#directory, JOURNAL);
    const handle = await open(`${path}.new`, 'w', 0o600);
    await handle.writeFile(JSON.stringify(commit)).finally(() => handle.close());
    await this.#sync();
    await rename(`${path}.new`, path);
    await this.#sync();
  }

  /**
   * Stage after stage. Everything may be done again after a crash. Answers the paths at which an entry of another type was
   * in the way: those are left as the codebase has them.
   */
  async apply(commit: Commit, done: StageDone): Promise<ByteString[]> {
    const leftOut: ByteString[] = [];
    for (const [index, { steps }] of commit.stages.entries()) {
      leftOut.push(...(await applySteps(this.#files, this.staging, steps)));
      await done(commit, index);
    }
    if (commit.givenUp.length > 0) await done(commit, commit.stages.length);
    return leftOut;
  }

  async end(): Promise<void> {
    await this.#sync();
    await rm(join(this.#directory, JOURNAL), { force: true });
    await removeTree(this.staging);
  }

  /** Takes the staged contents away; nothing was prepared. */
  async abandon(): Promise<void> {
    await rm(join(this.#directory, `${JOURNAL}.new`), { force: true });
    await removeTree(this.staging);
  }

  /** The commit that a crash, or a failure of the disk, left prepared and not finished. Throws DATA_LOSS when it is damaged. */
  async unfinished(): Promise<Commit | undefined> {
    let text: string;
    try {
      text = await readFile(join(this.#directory, JOURNAL), 'utf8');
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    return parseCommit(text);
  }

  /** One sync of the file system for thousands of files. */
  async #sync(): Promise<void> {
    await run('sync', ['-f', this.#directory], { env: {} });
  }
}

/** A journal of an older server is the list of its steps. */
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
