import type { Api } from './api.ts';
import type { ListeningPort, OpenedPort, OpenPortRequest, OpenPortResponse } from './contract/messages.ts';
import { type Duration, secondsOf } from './duration.ts';
import { CommandTimeoutError } from './errors.ts';
import { apart, joined } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import { requireForm } from './http/forms.ts';
import { connectPort, type PortConnection } from './port-connection.ts';

/** Milliseconds of one call. */
const STEP_MS = 60_000;

export interface WaitPortOptions extends Omit<CallOptions, 'timeout'> {
  /** Default: a minute. */
  timeout?: Duration | undefined;
}

/** Waits until a program of the sandbox listens on the port. Throws CommandTimeoutError. */
export async function waitPort(
  api: Api,
  sandboxId: string,
  port: number,
  options: WaitPortOptions,
): Promise<ListeningPort> {
  const [{ timeout = '1m' }, call] = apart(options, { timeout: 'duration' });
  requireForm('port', port, '!integer 1 65535');
  for (let left = Math.ceil(secondsOf('timeout', timeout) * 1000); ; left -= STEP_MS) {
    const wait: Duration = `${Math.max(Math.min(left, STEP_MS), 0)}ms`;
    const { ports } = await api.waitPort({ sandboxId, port, wait, listening: undefined }, call);
    if (ports[0] !== undefined) return ports[0];
    if (left <= STEP_MS) break;
  }
  const message = `no program of the sandbox listens on port ${port} after ${timeout}`;
  throw new CommandTimeoutError({ code: 'DEADLINE_EXCEEDED', message, operation: 'waitPort' });
}

/**
 * `access` "link": everybody who has the `linkToken` of the answer may use it; by default callers with a key. Without
 * `expiresIn` it is open until it is closed.
 */
export type OpenOptions = Omit<OpenPortRequest, 'sandboxId' | 'port'> & CallOptions;

/** Where an opened port is reached. */
export interface Opened extends OpenPortResponse {
  /** With the link token, if there is one; a browser can open it. */
  readonly link: string;
}

/** The TCP ports on which programs of a sandbox listen, and those that are opened. */
export class Ports {
  readonly #api: Api;
  readonly #sandboxId: string;

  constructor(api: Api, sandboxId: string) {
    this.#api = api;
    this.#sandboxId = sandboxId;
  }

  async list(options?: CallOptions): Promise<readonly ListeningPort[]> {
    const given = { sandboxId: this.#sandboxId, port: undefined, wait: undefined, listening: undefined };
    return (await this.#api.waitPort(given, options)).ports;
  }

  /** Waits until a program listens on the port. Throws CommandTimeoutError. */
  wait(port: number, options: WaitPortOptions = {}): Promise<ListeningPort> {
    return waitPort(this.#api, this.#sandboxId, port, options);
  }

  /** Opens a port to the outside. If it is open already, its token and its connections end. */
  async open(port: number, options: OpenOptions = {}): Promise<Opened> {
    const given: OpenOptions = joined({ access: 'key' }, options);
    const opened = await this.#api.openPort({ sandboxId: this.#sandboxId, port }, given);
    const { url } = this.#api.settings;
    const link = new URL(opened.url.startsWith('/') ? `${url.replace(/\/$/, '')}${opened.url}` : opened.url);
    if (opened.linkToken !== '') link.searchParams.set('paddock_token', opened.linkToken);
    return { ...opened, link: link.href };
  }

  /** The ports that are open. */
  async opened(options?: CallOptions): Promise<readonly OpenedPort[]> {
    return (await this.#api.listPorts({ sandboxId: this.#sandboxId, opened: true }, options)).ports;
  }

  /** Closes an opened port: its link token is not valid any more, and its connections are cut. */
  close(port: number, options?: CallOptions): Promise<void> {
    return this.#api.closePort({ sandboxId: this.#sandboxId, port }, options);
  }

  /** Connects to an opened port, whatever the protocol. The caller closes the connection. */
  connect(port: number, options: CallOptions = {}): Promise<PortConnection> {
    return connectPort(this.#api, this.#sandboxId, port, options);
  }
}
