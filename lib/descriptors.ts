import { closeSync, openSync, readFileSync } from 'node:fs';
import { Shares } from './shares.ts';

/** Descriptors held back; `lend` of a stop or destroy needs about five at a time. */
const RESERVE = 32;
/** Of all that the process may have, how much commands may hold; the rest is for clients, files and the reserve. */
const FOR_COMMANDS = 0.6;
/** A gRPC client has one connection for all of its calls. */
const FOR_CONNECTIONS = { rest: 0.15, grpc: 0.1 };
/** Where the limit cannot be read: the least that a system gives. */
const LEAST_LIMIT = 1024;

/** EMFILE: this process has as many descriptors as it may; ENFILE: the system has. */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE';
}

/**
 * The descriptors of the process: how many commands and connections may hold, and a few held back, so that ending a
 * command, stopping and destroying work when all others are in use.
 */
export class Descriptors {
  /** For the pipes of commands; the holder is a sandbox. */
  readonly commands: Shares<object>;
  /** Connections of clients to each listener at a time. */
  readonly maxConnections: { readonly rest: number; readonly grpc: number };
  readonly #reserve: number[] = [];
  #lent = 0;

  constructor(limit = descriptorLimit()) {
    this.commands = new Shares(Math.floor(limit * FOR_COMMANDS));
    const { rest, grpc } = FOR_CONNECTIONS;
    this.maxConnections = { rest: Math.floor(limit * rest), grpc: Math.floor(limit * grpc) };
    this.#refill();
  }

  /**
   * Runs a synchronous task that can be run again from its start; when it fails for want of a descriptor, once more with
   * the reserve. Nothing else of this thread runs meanwhile, so the task finds what was given back.
   */
  use<T>(task: () => T): T {
    try {
      return task();
    } catch (error) {
      if (!isOutOfDescriptors(error) || this.#reserve.length === 0) throw error;
      this.#release();
      try {
        return task();
      } finally {
        this.#refill();
      }
    }
  }

  /** Runs the task, with the reserve given back until its end where descriptors are short at its start. */
  async lend<T>(task: () => Promise<T>): Promise<T> {
    const short = this.#short();
    if (!short) return task();
    this.#lent++;
    this.#release();
    try {
      return await task();
    } finally {
      this.#lent--;
      this.#refill();
    }
  }

  /** Gives all back; no reserve is held any more. */
  close(): void {
    this.#lent = Number.POSITIVE_INFINITY;
    this.#release();
  }

  #short(): boolean {
    // As many as a destroy may need at a time.
    const tried: number[] = [];
    try {
      while (tried.length < RESERVE / 2) tried.push(openNothing());
      return false;
    } catch {
      return true;
    } finally {
      tried.forEach(close);
    }
  }

  #release(): void {
    this.#reserve.splice(0).forEach(close);
  }

  /** As far as there are any; the next use tries again. */
  #refill(): void {
    if (this.#lent > 0) return;
    try {
      while (this.#reserve.length < RESERVE) this.#reserve.push(openNothing());
    } catch {
      // Somebody else was faster.
    }
  }
}

const openNothing = (): number => openSync('/dev/null', 'r');

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch {}
}

/** Node raises the soft limit to the hard one when it starts. */
function descriptorLimit(): number {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return Number(match?.[1] ?? LEAST_LIMIT);
  } catch {
    return LEAST_LIMIT;
  }
}
