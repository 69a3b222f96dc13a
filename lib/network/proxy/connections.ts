import type { Socket } from 'node:net';
import type { Sequence } from '../events/sequence.ts';
import type { Decision, Target } from '../policy/policy.ts';
import type { ConnectionInfo } from '../worker/networks.ts';
import { reset } from './reset.ts';

/** Of one sandbox, at once. */
const MAX_OPEN = 256;
const MAX_CLOSED = 100;

/** Told of connections that are opened, and of their end. */
type Tell = (kind: 'opened' | 'closed', info: ConnectionInfo) => void;

/** One connection of a program, from its arrival on. */
export class Connection {
  readonly client: Socket;
  readonly info: ConnectionInfo;
  /** What the connection is used for now; undefined: nothing yet. It is cut when this is no longer allowed. */
  target: Target | undefined;
  /** TLS without a look into it, or another protocol. */
  isOpaque = false;
  readonly #tell: Tell;
  #isOpened = false;
  /** The client's, and what was opened outside for it. */
  readonly #sockets = new Set<Socket>();
  readonly #ended: () => void;
  #hasEnded = false;

  /** `ended`: all sockets are closed. One outside may stay for a while after the client's, to send the rest. */
  constructor(client: Socket, info: ConnectionInfo, { tell, ended }: { tell: Tell; ended: () => void }) {
    this.client = client;
    this.info = info;
    this.#tell = tell;
    this.#ended = ended;
    this.hold(client);
  }

  /** It is connected to the address now, or is looked into on the way there. */
  reached(address: string): void {
    this.info.address = address;
    this.#isOpened = true;
    this.#tell('opened', this.snapshot);
  }

  /** Tells its end. A refused one was told as that. */
  tellEnd(info: ConnectionInfo): void {
    if (this.#isOpened || info.allowed) this.#tell('closed', info);
  }

  /** The socket is cut with the connection, which has not ended before it is closed. */
  hold(socket: Socket): void {
    if (socket.closed) return;
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size > 0 || this.#hasEnded) return;
      this.#hasEnded = true;
      this.#ended();
    });
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
    for (const each of this.#sockets) reset(each);
  }
}

/** The connections of one sandbox: open ones, and the last that closed. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #closed: ConnectionInfo[] = [];
  readonly #maxOpen: number;
  readonly #sequence: Sequence;
  readonly #tell: Tell;

  constructor(sequence: Sequence, tell: Tell, maxOpen = MAX_OPEN) {
    this.#sequence = sequence;
    this.#tell = tell;
    this.#maxOpen = maxOpen;
  }

  get isFull(): boolean {
    return this.#open.size >= this.#maxOpen;
  }

  /** `ended`: called once, when its last socket is closed. */
  add(client: Socket, ended: () => void): Connection {
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
    const numbers = { sequence: this.#sequence.next(), sent: 0, received: 0, count: 1 };
    const times = { openedAt: Date.now(), closedAt: undefined };
    const shown = { ...info, ...numbers, ...times };
    const closed = () => {
      this.#open.delete(connection);
      ended();
      // A connection on which nothing was asked for is not worth a place.
      if (connection.info.host === '' && connection.info.address === '') return;
      const last = { ...connection.snapshot, closedAt: connection.info.closedAt ?? Date.now() };
      this.#closed.push(last);
      connection.tellEnd(last);
      if (this.#closed.length > MAX_CLOSED) this.#closed.shift();
    };
    const connection = new Connection(client, shown, { tell: this.#tell, ended: closed });
    this.#open.add(connection);
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
