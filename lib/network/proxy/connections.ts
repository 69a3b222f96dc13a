import type { Socket } from 'node:net';
import type { Decision, Target } from '../policy/policy.ts';
import type { ConnectionInfo } from '../worker/networks.ts';
import { reset } from './reset.ts';

/** Of one sandbox, at once. */
const MAX_OPEN = 256;
const MAX_CLOSED = 100;

/** One connection of a program, from its arrival on. */
export class Connection {
  readonly client: Socket;
  readonly info: ConnectionInfo;
  /** What the connection is used for now; undefined: nothing yet. It is cut when this is no longer allowed. */
  target: Target | undefined;
  /** TLS without a look into it, or another protocol. */
  isOpaque = false;
  upstream: Socket | undefined;

  constructor(client: Socket, info: ConnectionInfo) {
    this.client = client;
    this.info = info;
  }

  use(target: Target, protocol: string, decision: Decision): void {
    this.target = target;
    const { host = '', port } = target;
    // The one that is connected to stays known for the next request.
    const address = target.address ?? (host === this.info.host ? this.info.address : '');
    const { code, reason, rule, allowed } = decision;
    Object.assign(this.info, { host, address, port, protocol, code, reason, rule, allowed });
  }

  get snapshot(): ConnectionInfo {
    return { ...this.info, sent: this.client.bytesRead, received: this.client.bytesWritten };
  }

  /** Nothing of it is passed on any more. */
  cut(): void {
    this.info.closedAt ??= Date.now();
    reset(this.client);
    if (this.upstream) reset(this.upstream);
  }
}

/** The connections of one sandbox: open ones, and the last that closed. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #closed: ConnectionInfo[] = [];
  readonly #maxOpen: number;
  #sequence: number;

  constructor(start: number, maxOpen = MAX_OPEN) {
    this.#sequence = start;
    this.#maxOpen = maxOpen;
  }

  /** undefined: there are too many. */
  add(client: Socket): Connection | undefined {
    if (this.#open.size >= this.#maxOpen) return undefined;
    const info = {
      host: '',
      address: '',
      port: 0,
      protocol: 'tcp',
      allowed: true,
      code: '',
      reason: '',
      rule: undefined,
    };
    const times = { openedAt: Date.now(), closedAt: undefined };
    const connection = new Connection(client, { sequence: ++this.#sequence, ...info, sent: 0, received: 0, ...times });
    this.#open.add(connection);
    client.once('close', () => {
      this.#open.delete(connection);
      // A connection on which nothing was asked for is not worth a place.
      if (connection.info.host === '' && connection.info.address === '') return;
      this.#closed.push({ ...connection.snapshot, closedAt: connection.info.closedAt ?? Date.now() });
      if (this.#closed.length > MAX_CLOSED) this.#closed.shift();
    });
    return connection;
  }

  get size(): number {
    return this.#open.size;
  }

  list(): ConnectionInfo[] {
    const open = [...this.#open].map((each) => each.snapshot).filter((each) => each.host !== '' || each.address !== '');
    return [...open, ...this.#closed].sort((a, b) => b.sequence - a.sequence);
  }

  /** Cuts those that `keeps` refuses. */
  cut(keeps: (connection: Connection) => boolean): void {
    for (const each of this.#open) if (!keeps(each)) each.cut();
  }
}
