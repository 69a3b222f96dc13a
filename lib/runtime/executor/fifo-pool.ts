import { execFile } from 'node:child_process';
import { chownSync, constants, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BATCH = 64;
const LOW = 16;
const run = promisify(execFile);

/** Makes FIFOs with mode 0600 at new absolute paths; after a failure some may exist. */
export type MakeFifos = (paths: readonly string[]) => Promise<void>;

/** Starts mkfifo(1): a fork of this process. */
export const byProgram: MakeFifos = async (paths) => {
  await run('mkfifo', ['-m', '600', ...paths], { cwd: '/' });
};

/**
 * FIFOs created in advance in batches (Node has no mkfifo(3), and spawning mkfifo(1) costs more than a command). One
 * pool serves all sandboxes of a server, in a directory that only the server can enter, on the file system of the agent
 * directories.
 */
export class FifoPool {
  readonly #dir: string;
  readonly #makeFifos: MakeFifos;
  #free: string[] = [];
  #made = 0;
  #refill: Promise<void> | undefined;

  constructor(dir: string, makeFifos: MakeFifos = byProgram) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.#dir = dir;
    this.#makeFifos = makeFifos;
  }

  /**
   * Moves new FIFOs (mode 0600) to `paths` and changes their owner to `uid`. After a failure some of them may exist.
   */
  async place(paths: readonly string[], uid: number | undefined): Promise<void> {
    while (this.#free.length < paths.length) await this.#fill();
    for (const path of paths) {
      const fifo = this.#free.pop()!;
      try {
        if (uid !== undefined) chownSync(fifo, uid, uid);
        renameSync(fifo, path);
      } catch (error) {
        // A FIFO that was removed would fail every later call.
        if (existsSync(fifo)) this.#free.push(fifo);
        throw error;
      }
    }
    if (this.#free.length < LOW) this.#fill().catch(() => {});
  }

  #fill(): Promise<void> {
    this.#refill ??= this.#make().finally(() => {
      this.#refill = undefined;
    });
    return this.#refill;
  }

  async #make(): Promise<void> {
    const fresh = Array.from({ length: BATCH }, () => join(this.#dir, String(this.#made++)));
    await this.#makeFifos(fresh);
    this.#free.push(...fresh);
  }
}

/** Never blocks and never follows a symbolic link. O_RDWR keeps a FIFO open without a process at its other end. */
export function openFifo(path: string, access: 'read' | 'write' | 'both'): number {
  const flag = { read: constants.O_RDONLY, write: constants.O_WRONLY, both: constants.O_RDWR }[access];
  return openSync(path, flag | constants.O_NONBLOCK | constants.O_NOFOLLOW);
}
