import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface Asking {
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

const MOST_BYTES = 256 * 1024 * 1024;

/** What git tracks below a directory. */
export class Tracked {
  readonly files: readonly string[];
  readonly #paths = new Set<string>();

  constructor(files: readonly string[]) {
    this.files = files;
    for (const file of files)
      for (let at = file; at !== '' && !this.#paths.has(at); at = parentOf(at)) this.#paths.add(at);
  }

  /** undefined: git cannot tell, or the directory is in no repository. */
  static async in(directory: string, { env, signal }: Asking): Promise<Tracked | undefined> {
    // Those of the environment may name another repository. A monitor is a program, and nothing but the index is read.
    const plain = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
    const args = ['-C', directory, '-c', 'core.fsmonitor=false', 'ls-files', '-z'];
    try {
      const { stdout } = await run('git', args, { env: plain, signal, maxBuffer: MOST_BYTES });
      return new Tracked(stdout.split('\0').filter((path) => path !== ''));
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  /** A file, or a directory with one. */
  has(path: string): boolean {
    return this.#paths.has(path);
  }
}

const run = promisify(execFile);

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));
