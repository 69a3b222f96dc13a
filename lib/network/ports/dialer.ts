import type { Socket } from 'node:net';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';

/** The part of a socket maker that connects. */
export interface Connector {
  /** See `SocketMaker`. */
  connect(pid: number, port: number): Promise<Socket>;
  close(): Promise<void>;
}

/** A connector without use is ended after this time, with its process. */
const IDLE_MS = 60_000;

/** Nothing listens on the port. */
export class NothingListens extends ServiceError {
  constructor(port: number) {
    super('UNAVAILABLE', `nothing listens on port ${port} in this sandbox`);
  }
}

/** Connects to ports of sandboxes with one connector, which is there while it is used. */
export class Dialer {
  readonly #create: () => Connector;
  readonly #idleMs: number;
  #connector: Connector | undefined;
  #inUse = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(create: () => Connector, idleMs = IDLE_MS) {
    this.#create = create;
    this.#idleMs = idleMs;
  }

  /** A connection made inside of the sandbox of the process `pid`. Throws `NothingListens`, or another ServiceError. */
  async connect(pid: number, port: number): Promise<Socket> {
    if (this.#closed) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
    clearTimeout(this.#idle);
    this.#connector ??= this.#create();
    this.#inUse++;
    try {
      return await this.#connector.connect(pid, port);
    } catch (error) {
      if (errorCode(error) === 'ECONNREFUSED') throw new NothingListens(port);
      if (errorCode(error) !== 'ETIMEDOUT') throw error;
      // Without the error as its cause, which would be logged as one of the host: a program could fill the log.
      throw new ServiceError('UNAVAILABLE', `the program on port ${port} accepts no connection`);
    } finally {
      this.#inUse--;
      if (this.#inUse === 0) this.#endWhenIdle();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    await this.#end();
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#inUse === 0) this.#end().catch(() => undefined);
    }, this.#idleMs);
    this.#idle.unref();
  }

  async #end(): Promise<void> {
    const connector = this.#connector;
    this.#connector = undefined;
    await connector?.close();
  }
}
