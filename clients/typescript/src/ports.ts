import type { Api } from './api.ts';
import { type Duration, secondsOf } from './commands/options.ts';
import type { ListeningPort } from './contract/messages.ts';
import { TimeoutError } from './errors.ts';

/** Milliseconds of one call. */
const STEP_MS = 60_000;

export interface WaitPortOptions {
  /** Default: 60 seconds. */
  timeout?: Duration | undefined;
  signal?: AbortSignal | undefined;
}

/** Waits until a program of the sandbox listens on the port. Throws TimeoutError. */
export async function waitPort(
  api: Api,
  sandboxId: string,
  port: number,
  { timeout = 60, signal }: WaitPortOptions,
): Promise<ListeningPort> {
  for (let left = Math.ceil(secondsOf(timeout) * 1000); ; left -= STEP_MS) {
    const wait = Math.max(Math.min(left, STEP_MS), 0);
    const { ports } = await api.waitPort({ sandboxId, port, wait }, { signal });
    if (ports[0] !== undefined) return ports[0];
    if (left <= STEP_MS) break;
  }
  const message = `no program of the sandbox listens on port ${port} after ${secondsOf(timeout)} seconds`;
  throw new TimeoutError({ code: 'DEADLINE_EXCEEDED', message, operation: 'waitPort' });
}

/** The TCP ports on which programs of a sandbox listen. */
export class Ports {
  readonly #api: Api;
  readonly #sandboxId: string;

  constructor(api: Api, sandboxId: string) {
    this.#api = api;
    this.#sandboxId = sandboxId;
  }

  async list(options: { signal?: AbortSignal } = {}): Promise<readonly ListeningPort[]> {
    return (await this.#api.waitPort({ sandboxId: this.#sandboxId }, options)).ports;
  }

  /** Waits until a program listens on the port. Throws TimeoutError. */
  wait(port: number, options: WaitPortOptions = {}): Promise<ListeningPort> {
    return waitPort(this.#api, this.#sandboxId, port, options);
  }
}
