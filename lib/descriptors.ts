import { closeSync, openSync, readFileSync } from 'node:fs';
import { errorCode } from './linux/errno.ts';
import { Shares } from './shares.ts';
import { Transfers } from './transfers.ts';

/** Number of reserved descriptors; a stop or destroy under `lend` needs about five at a time. */
const RESERVE = 32;
/** Fraction of the process's descriptors for commands. What no fraction names is for sandboxes and the reserve. */
const FOR_COMMANDS = 0.35;
/** Fraction for file transfers. */
const FOR_TRANSFERS = 0.1;
/** Fractions for connections. A gRPC client uses one connection for all of its calls. */
const FOR_CONNECTIONS = { rest: 0.15, grpc: 0.1 };
/** Fractions for the network of sandboxes: what listens in them, and connections. */
const FOR_NETWORKS = { listeners: 0.1, connections: 0.1 };
/** Fraction for the connections to opened ports, on the side of their sandboxes. */
const FOR_PORTS = 0.05;
/** Fraction for each cache of open files or directories, and the bounds of its size. */
const FOR_CACHE = 0.05;
const MIN_CACHE = 8;
const MAX_CACHE = 256;
/** The most that a commit holds for a moment, of the same fraction. */
const MAX_HELD = 2048;
/** Assumed if the limit cannot be read: the lowest common default. */
const LEAST_LIMIT = 1024;

/** EMFILE: the process has reached its limit; ENFILE: the system has. See open(2). */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'EMFILE' || code === 'ENFILE';
}

/**
 * The descriptor budget of the process: the limits for commands, connections and transfers, and a reserve, so that
 * ending a command, stopping and destroying work when all other descriptors are in use.
 */
export class Descriptors {
  /** For the pipes of commands, per sandbox. */
  readonly commands: Shares<object>;
  /** For uploads, downloads and exports. */
  readonly transfers: Transfers;
  /** Maximum number of simultaneous client connections per listener. */
  readonly maxConnections: { readonly rest: number; readonly grpc: number };
  /** Maximum numbers of descriptors for what listens in all sandboxes, and for their connections to the network. */
  readonly network: { readonly listeners: number; readonly connections: number };
  /** For connections through opened ports, by sandbox: one each besides that of the client. */
  readonly ports: Shares<string>;
  readonly #reserve: number[] = [];
  #lent = 0;

  constructor(limit = descriptorLimit()) {
    this.commands = new Shares(Math.floor(limit * FOR_COMMANDS));
    this.transfers = new Transfers(Math.floor(limit * FOR_TRANSFERS));
    this.ports = new Shares(Math.floor(limit * FOR_PORTS));
    const { listeners, connections } = FOR_NETWORKS;
    this.network = { listeners: Math.floor(limit * listeners), connections: Math.floor(limit * connections) };
    const { rest, grpc } = FOR_CONNECTIONS;
    this.maxConnections = { rest: Math.floor(limit * rest), grpc: Math.floor(limit * grpc) };
    this.#refill();
  }

  /**
   * Runs a synchronous, repeatable task; if it fails for lack of a descriptor, closes the reserve and runs it once
   * more. No other code of this thread runs in between, so the freed descriptors are available to the task.
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

  /** Runs the task; if descriptors are short at its start, the reserve is closed until the task ends. */
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

  /** Closes the reserve for good. */
  close(): void {
    this.#lent = Number.POSITIVE_INFINITY;
    this.#release();
  }

  #short(): boolean {
    // Opens as many as one destroy may need at a time.
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

  /** Refills as far as possible; the next use tries again. */
  #refill(): void {
    if (this.#lent > 0) return;
    try {
      while (this.#reserve.length < RESERVE) this.#reserve.push(openNothing());
    } catch {
      // Another thread or process was faster.
    }
  }
}

/** Maximum number of entries of a cache of open files or directories. */
export function maxCachedDescriptors(limit = descriptorLimit()): number {
  return Math.max(MIN_CACHE, Math.min(MAX_CACHE, Math.floor(limit * FOR_CACHE)));
}

/** Maximum number of files that one commit keeps open at a time. */
export function maxHeldDescriptors(limit = descriptorLimit()): number {
  return Math.max(MIN_CACHE, Math.min(MAX_HELD, Math.floor(limit * FOR_CACHE)));
}

const openNothing = (): number => openSync('/dev/null', 'r');

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch {}
}

/** Node raises the soft limit to the hard limit when it starts. */
function descriptorLimit(): number {
  try {
    const match = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return Number(match?.[1] ?? LEAST_LIMIT);
  } catch {
    return LEAST_LIMIT;
  }
}
