import { execFile } from 'node:child_process';
import { chownSync, constants, existsSync, fchmodSync, fchownSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BATCH = 64;
const LOW = 16;
const run = promisify(execFile);

/** Pipes that are larger than usual at a time: 12 MiB more, far below what a user may have of pipes (64 MiB, pipe(7)). */
const MAX_LARGE = 64;

/** Makes FIFOs with mode 0600 at new absolute paths; after a failure some may exist. */
export type MakeFifos = (paths: readonly string[]) => Promise<void>;

/** Makes the pipe of a descriptor of this process larger (F_SETPIPE_SZ), later. It may fail, which is not told. */
export type GrowPipe = (fd: number) => void;

/** Makes the pipe of a descriptor larger, if it may be. Returns what to call when the descriptor is closed. */
export type Grow = (fd: number) => (() => void) | undefined;

/** Starts mkfifo(1): a fork of this process. */
export const byProgram: MakeFifos = async (paths) => {
  await run('mkfifo', ['-m', '600', ...paths], { cwd: '/' });
};

/**
 * Keeps all but the present users of a FIFO of `FifoPool` from opening it; `uid`: its owner. The mode of another user's file cannot
 * be changed without CAP_FOWNER, which a container may lack, but the owner can.
 */
export function takeBack(fd: number, uid: number | undefined): void {
  if (uid === undefined) fchmodSync(fd, 0);
  else fchownSync(fd, process.geteuid!(), process.getegid!());
}

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
  #large = 0;
  /** See `Grow`. Their contents count as memory of the sandbox that writes. Absent: there is no way to make them larger. */
  readonly grow: Grow | undefined;

  constructor(dir: string, makeFifos: MakeFifos = byProgram, growPipe?: GrowPipe) {
    this.grow = growPipe && ((fd) => this.#grown(fd, growPipe));
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

  #grown(fd: number, growPipe: GrowPipe): (() => void) | undefined {
    if (this.#large >= MAX_LARGE) return undefined;
    this.#large++;
    growPipe(fd);
    return () => {
      this.#large--;
    };
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
