import { execFileSync } from 'node:child_process';
import type * as NodeFs from 'node:fs';
import type * as NodeFsPromises from 'node:fs/promises';

type AnyCall = (...args: unknown[]) => unknown;

/** Calls after which the disk is another one. */
const CHANGES =
  /^(append|chmod|chown|copyFile|fchmod|ftruncate|futimes|link|mkdir|rename|rm|symlink|truncate|unlink|utimes|write)/;
const FILE_CHANGES = ['appendFile', 'chmod', 'chown', 'truncate', 'utimes', 'write', 'writeFile', 'writev'] as const;

/**
 * Copies a directory after each host call that changes the disk, in the main thread and in the request worker's code: what a
 * server finds that starts after a kill -9 at that moment.
 */
class Snapshots {
  #taking: { home: string; copies: string[] } | undefined;

  /** Takes them during `act` and returns the copies, in order. */
  async during(home: string, act: () => Promise<unknown>): Promise<string[]> {
    const copies: string[] = [];
    this.#taking = { home, copies };
    try {
      await act();
    } finally {
      this.#taking = undefined;
    }
    return copies;
  }

  #take(): void {
    if (this.#taking === undefined) return;
    const { home, copies } = this.#taking;
    const copy = `${home}-${copies.length}`;
    copies.push(copy);
    execFileSync('cp', ['-a', home, copy]);
  }

  /** For `vi.mock('node:fs')`. */
  wrap(fs: typeof NodeFs): typeof NodeFs {
    const names = Object.keys(fs).filter((name) => CHANGES.test(name));
    const wrapped = names.map((name) => {
      const call = fs[name as keyof typeof NodeFs] as AnyCall;
      return [name, (...args: unknown[]) => this.#taken(call(...args.map((arg) => this.#calledBack(arg))))];
    });
    return { ...fs, ...Object.fromEntries(wrapped) };
  }

  /** For `vi.mock('node:fs/promises')`. */
  wrapPromises(fs: typeof NodeFsPromises): typeof NodeFsPromises {
    const wrapped: Record<string, unknown> = { ...fs };
    for (const [name, member] of Object.entries(fs)) {
      if (typeof member !== 'function') continue;
      const call = member as AnyCall;
      if (CHANGES.test(name)) wrapped[name] = async (...args: unknown[]) => this.#taken(await call(...args));
      if (name === 'open') wrapped[name] = async (...args: unknown[]) => this.#opened(await call(...args));
    }
    return { ...wrapped, default: wrapped } as unknown as typeof NodeFsPromises;
  }

  #calledBack(argument: unknown): unknown {
    if (typeof argument !== 'function') return argument;
    return (...results: unknown[]) => argument(...this.#taken(results));
  }

  #taken<T>(result: T): T {
    this.#take();
    return result;
  }

  #opened(handle: unknown): unknown {
    const file = handle as Record<string, AnyCall>;
    for (const name of FILE_CHANGES) {
      const call = file[name]!.bind(handle);
      const value = async (...args: unknown[]) => this.#taken(await call(...args));
      Object.defineProperty(file, name, { value });
    }
    // A new file is a change of its directory.
    return this.#taken(handle);
  }
}

export const snapshots = new Snapshots();
