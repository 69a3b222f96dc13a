import type { ChildProcess } from 'node:child_process';
import type * as NodeFs from 'node:fs';
import type * as NodeFsPromises from 'node:fs/promises';
import { constants } from 'node:os';
import { promisify } from 'node:util';

type NodeChildProcess = typeof import('node:child_process');

/** The errnos of a host with exhausted resources or broken hardware. */
export const ERRNOS = ['EAGAIN', 'EPIPE', 'ENOSPC', 'EMFILE', 'ENOMEM', 'EIO'] as const;
export type ErrnoName = (typeof ERRNOS)[number];

/** The host file calls that the server's main thread makes for sandboxes, all of them synchronous. */
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

/** Additional calls of the request worker. */
const WORKER_CALLS = [
  'copyFileSync',
  'fchmodSync',
  'fdatasyncSync',
  'fstatSync',
  'fsyncSync',
  'ftruncateSync',
  'futimesSync',
  'linkSync',
  'lstatSync',
  'readlinkSync',
  'statSync',
  'symlinkSync',
  'writevSync',
] as const;

/** Calls of an open file that reach the kernel. */
const HANDLE_CALLS = [
  'appendFile',
  'chmod',
  'chown',
  'close',
  'datasync',
  'read',
  'readFile',
  'stat',
  'sync',
  'truncate',
  'utimes',
  'write',
  'writeFile',
] as const;

/** Makes the Nth of these calls after `arm` fail. For `vi.mock('node:fs')`. */
class HostCalls {
  #left = 0;
  #errno: ErrnoName = 'EIO';
  #fired = '';
  #only: RegExp | undefined;
  #places: string[] | undefined;

  /** `only`: count only the starts of these programs. */
  arm(nth: number, errno: ErrnoName, only?: RegExp): void {
    this.#left = nth;
    this.#only = only;
    this.#errno = errno;
    this.#fired = '';
  }

  /** Records calls by their source location, and lets none fail, until `recorded`. */
  record(): void {
    this.#places = [];
  }

  /** Returns the number, for `arm`, of the first call at each source location in files whose path contains `within`. */
  recorded(within = ''): number[] {
    const places = this.#places ?? [];
    this.#places = undefined;
    const isFirst = (place: string, index: number) =>
      places.indexOf(place) === index && (place.split(' ')[0] ?? '').includes(within);
    return places.flatMap((place, index) => (isFirst(place, index) ? [index + 1] : []));
  }

  /** Disarms, and returns the call that failed since `arm`; empty: there were fewer calls. */
  disarm(): string {
    this.#left = 0;
    return this.#fired;
  }

  get fired(): string {
    return this.#fired;
  }

  wrap(fs: typeof NodeFs): typeof NodeFs {
    return this.#wrapped(fs, CALLS);
  }

  /** Includes the calls of the request worker, which runs in the test's own thread. */
  wrapWithWorker(fs: typeof NodeFs): typeof NodeFs {
    return this.#wrapped(fs, [...CALLS, ...WORKER_CALLS]);
  }

  /** For `vi.mock('node:fs/promises')`: all calls, and those of the files that they open. */
  wrapPromises(fs: typeof NodeFsPromises): typeof NodeFsPromises {
    const wrapped: Record<string, unknown> = { ...fs };
    for (const [name, member] of Object.entries(fs)) {
      if (typeof member !== 'function') continue;
      const failing = this.#failingLater(name, member as AnyCall);
      wrapped[name] = name === 'open' ? async (...args: unknown[]) => this.#opened(await failing(...args)) : failing;
    }
    return { ...wrapped, default: wrapped } as unknown as typeof NodeFsPromises;
  }

  #wrapped(fs: typeof NodeFs, names: readonly (keyof typeof NodeFs)[]): typeof NodeFs {
    const wrapped = Object.fromEntries(names.map((name) => [name, this.#failing(name, fs[name] as AnyCall)]));
    return { ...fs, ...wrapped };
  }

  #opened(handle: unknown): unknown {
    const file = handle as Record<string, AnyCall>;
    for (const name of HANDLE_CALLS) {
      const failing = this.#failingLater(`file.${name}`, file[name]!.bind(handle));
      Object.defineProperty(file, name, { value: failing });
    }
    return handle;
  }

  #failingLater(name: string, call: AnyCall): (...args: unknown[]) => Promise<unknown> {
    return async (...args) => {
      if (this.#only || !this.#isDue()) return call(...args);
      this.#fired = firedText(name, args, this.#errno);
      if (name === 'file.close') await call(...args);
      throw injected(this.#errno, name);
    };
  }

  /** For `vi.mock('node:child_process')`: a start fails as Node reports it. */
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
    return (this.#only?.test(program) ?? true) && this.#isDue();
  }

  #isDue(): boolean {
    this.#places?.push(placeOf(new Error()));
    return this.#left > 0 && --this.#left === 0;
  }

  /** The only errnos of a failed fork. */
  #spawnError(command: string): Error {
    const code = ({ EAGAIN: 'EAGAIN', EMFILE: 'EMFILE' } as Record<string, string>)[this.#errno] ?? 'ENOMEM';
    this.#fired = `spawn ${command} ${code}`;
    return Object.assign(new Error(`spawn ${code}: injected`), { code, syscall: 'spawn' });
  }

  /** Node throws unexpected errors, and reports the others as an event of a child without pid and streams. */
  #deadChild(child: ChildProcess, error: Error): ChildProcess {
    if ((error as NodeJS.ErrnoException).code === 'ENOMEM') throw error;
    process.nextTick(() => child.emit('error', error));
    return child;
  }

  #failing(name: string, call: AnyCall): AnyCall {
    return (...args) => {
      if (this.#only || !this.#isDue()) return call(...args);
      // For a read this is not a failure: no data is available.
      if (name === 'readSync' && this.#errno === 'EAGAIN') this.#errno = 'EIO';
      this.#fired = firedText(name, args, this.#errno);
      // A close that reports an error has closed the descriptor anyway (close(2)).
      if (name === 'closeSync') call(...args);
      throw injected(this.#errno, name);
    };
  }
}

/** Returns the innermost stack frames in the server's own source. */
function placeOf({ stack = '' }: Error): string {
  return (stack.match(/\/lib\/(?!runtime\/faults)[\w/-]+\.ts:\d+:\d+/g) ?? [])
    .filter((frame) => !stack.includes(`/test${frame}`))
    .slice(0, 3)
    .join(' ');
}

function firedText(name: string, [first]: readonly unknown[], errno: ErrnoName): string {
  return `${name} ${String(first).replace(/[0-9a-f]{8,}/g, 'x')} ${errno}`;
}

function injected(code: ErrnoName, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code, errno: -constants.errno[code], syscall });
}

export const hostCalls = new HostCalls();
