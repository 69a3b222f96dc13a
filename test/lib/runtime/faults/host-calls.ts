import type { ChildProcess } from 'node:child_process';
import type * as NodeFs from 'node:fs';
import { promisify } from 'node:util';

type NodeChildProcess = typeof import('node:child_process');

/** What a host says when it is short of something, or broken. */
export const ERRNOS = ['EAGAIN', 'EPIPE', 'ENOSPC', 'EMFILE', 'ENOMEM', 'EIO'] as const;
export type ErrnoName = (typeof ERRNOS)[number];

/** The calls to the host's files that the server's main thread makes for sandboxes, all of them synchronous. */
const CALLS = [
  'chownSync',
  'closeSync',
  'mkdirSync',
  'openSync',
  'readdirSync',
  'readFileSync',
  'readSync',
  'renameSync',
  'rmdirSync',
  'rmSync',
  'truncateSync',
  'unlinkSync',
  'writeFileSync',
  'writeSync',
] as const;

type AnyCall = (...args: unknown[]) => unknown;

/** Makes the Nth of those calls fail, counted from `arm` on. For `vi.mock('node:fs')`. */
class HostCalls {
  #left = 0;
  #errno: ErrnoName = 'EIO';
  #fired = '';
  #only = '';

  /** `only`: a program; its starts are counted alone. */
  arm(nth: number, errno: ErrnoName, only = ''): void {
    this.#left = nth;
    this.#only = only;
    this.#errno = errno;
    this.#fired = '';
  }

  /** The call that was made to fail since `arm`; empty: there were not so many. No further one fails. */
  disarm(): string {
    this.#left = 0;
    return this.#fired;
  }

  get fired(): string {
    return this.#fired;
  }

  wrap(fs: typeof NodeFs): typeof NodeFs {
    const wrapped = Object.fromEntries(CALLS.map((name) => [name, this.#failing(name, fs[name] as AnyCall)]));
    return { ...fs, ...wrapped };
  }

  /** For `vi.mock('node:child_process')`: what is started fails as Node tells it. */
  wrapProcesses(processes: NodeChildProcess): NodeChildProcess {
    const { spawn, spawnSync, execFile } = processes;
    const failing = (real: AnyCall, failed: (error: Error) => unknown): AnyCall => {
      return (...args) =>
        this.#isStarted(String(args[0])) ? failed(this.#spawnError(String(args[0]))) : real(...args);
    };
    const later = failing(promisify(execFile) as AnyCall, (error) => Promise.reject(error));
    return {
      ...processes,
      spawn: failing(spawn as AnyCall, (error) => this.#deadChild(new processes.ChildProcess(), error)) as typeof spawn,
      spawnSync: failing(spawnSync as AnyCall, (error) => ({ pid: 0, status: null, error })) as typeof spawnSync,
      execFile: Object.assign((...args: Parameters<typeof execFile>) => execFile(...args), {
        [promisify.custom]: later,
      }) as unknown as typeof execFile,
    };
  }

  #isStarted(program: string): boolean {
    return (this.#only === '' || this.#only === program) && this.#isDue();
  }

  #isDue(): boolean {
    return this.#left > 0 && --this.#left === 0;
  }

  /** A fork can fail in these ways only. */
  #spawnError(command: string): Error {
    const code = ({ EAGAIN: 'EAGAIN', EMFILE: 'EMFILE' } as Record<string, string>)[this.#errno] ?? 'ENOMEM';
    this.#fired = `spawn ${command} ${code}`;
    return Object.assign(new Error(`spawn ${code}: injected`), { code, syscall: 'spawn' });
  }

  /** Node throws what it does not know, and else tells it as an event of a child without pid and streams. */
  #deadChild(child: ChildProcess, error: Error): ChildProcess {
    if ((error as NodeJS.ErrnoException).code === 'ENOMEM') throw error;
    process.nextTick(() => child.emit('error', error));
    return child;
  }

  #failing(name: string, call: AnyCall): AnyCall {
    return (...args) => {
      if (this.#only !== '' || !this.#isDue()) return call(...args);
      // Of a read this is no failure: there is nothing to read.
      if (name === 'readSync' && this.#errno === 'EAGAIN') this.#errno = 'EIO';
      this.#fired = `${name} ${String(args[0]).replace(/[0-9a-f]{8,}/g, 'x')} ${this.#errno}`;
      // A close that reports an error has closed all the same (close(2)).
      if (name === 'closeSync') call(...args);
      throw Object.assign(new Error(`${this.#errno}: injected`), { code: this.#errno, syscall: name });
    };
  }
}

export const hostCalls = new HostCalls();
