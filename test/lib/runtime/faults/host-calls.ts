import type * as NodeFs from 'node:fs';

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

  arm(nth: number, errno: ErrnoName): void {
    this.#left = nth;
    this.#errno = errno;
    this.#fired = '';
  }

  /** The call that was made to fail since `arm`; empty: there were not so many. No further one fails. */
  disarm(): string {
    this.#left = 0;
    return this.#fired;
  }

  wrap(fs: typeof NodeFs): typeof NodeFs {
    const wrapped = Object.fromEntries(CALLS.map((name) => [name, this.#failing(name, fs[name] as AnyCall)]));
    return { ...fs, ...wrapped };
  }

  #failing(name: string, call: AnyCall): AnyCall {
    return (...args) => {
      const fails = this.#left > 0 && --this.#left === 0;
      if (!fails) return call(...args);
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
