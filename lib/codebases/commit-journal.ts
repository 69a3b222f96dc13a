import { execFile } from 'node:child_process';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from '../remove-tree.ts';
import { carryOut, type Step } from './commit-steps.ts';
import { errnoOf } from './disk-errors.ts';

const JOURNAL = 'commit.json';
const STAGING = 'commit';

const run = promisify(execFile);

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
  async prepare(steps: readonly Step[]): Promise<void> {
    const path = join(this.#directory, JOURNAL);
    const handle = await open(`${path}.new`, 'w', 0o600);
    await handle.writeFile(JSON.stringify(steps)).finally(() => handle.close());
    await this.#sync();
    await rename(`${path}.new`, path);
    await this.#sync();
  }

  apply(steps: readonly Step[]): Promise<void> {
    return carryOut(this.#files, this.staging, steps);
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

  /** Finishes what a crash, or a failure of the disk, left prepared, and removes what it left before that. True: it had. */
  async recover(): Promise<boolean> {
    const steps = await this.#load();
    if (steps === undefined) {
      await this.abandon();
      return false;
    }
    await this.apply(steps);
    await this.end();
    return true;
  }

  async #load(): Promise<Step[] | undefined> {
    try {
      return JSON.parse(await readFile(join(this.#directory, JOURNAL), 'utf8')) as Step[];
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** One sync of the file system for thousands of files. */
  async #sync(): Promise<void> {
    await run('sync', ['-f', this.#directory], { env: {} });
  }
}
