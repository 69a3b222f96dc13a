import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server, Socket } from 'node:net';
import { EventLog } from '../events/event-log.ts';
import { Sequence } from '../events/sequence.ts';
import { FakeAddresses } from '../names/fake-addresses.ts';
import { NameServer } from '../names/name-server.ts';
import type { Resolution } from '../names/resolution.ts';
import { decide } from '../policy/decide.ts';
import type { Decision, Limits, NetworkPolicy, Target } from '../policy/policy.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';
import type { ConnectionInfo, EventBatch, EventCursor, Refusal } from '../worker/networks.ts';
import { type Accepted, serveDirect, serveProxy, TIMES } from './accept.ts';
import type { ConnectionPlaces } from './connection-places.ts';
import { type Connection, Connections } from './connections.ts';
import { contained } from './contained.ts';
import { decideName, kindOf } from './decide-name.ts';
import type { Gate } from './gate.ts';
import type { HttpProxy } from './http-proxy.ts';
import type { Inspector, MakeInspector } from './inspector.ts';
import { openInspected } from './open-inspected.ts';
import { Refusals } from './refusals.ts';
import { reset } from './reset.ts';

export const PROXY_PORT = 3128;
export const NAME_PORT = 53;

/** What the networks of all sandboxes share. */
export interface SharedByNetworks {
  resolution: Resolution;
  limits: Limits;
  http: HttpProxy;
  makeInspector: MakeInspector | undefined;
  places: ConnectionPlaces;
  /** There is an event that readers of the events of the sandbox do not have. */
  news?(id: string): void;
}

const MAX_DECISIONS = 2048;

/** The network of one sandbox: its names, its connections and its policy. */
export class SandboxNetwork implements Gate {
  readonly #id: string;
  readonly #shared: SharedByNetworks;
  readonly #fakes = new FakeAddresses();
  readonly #names: NameServer;
  readonly #sequence = new Sequence();
  readonly #events = new EventLog(this.#sequence, () => this.#shared.news?.(this.#id));
  readonly #connections = new Connections(this.#sequence, (kind, info) => this.#events.connection(kind, info));
  readonly #refusals = new Refusals(this.#sequence, (info) => this.#events.refused(info));
  readonly inspector: Inspector | undefined;
  readonly #times: typeof TIMES;
  #policy: NetworkPolicy;
  #secrets: readonly BoundSecret[];
  /** About names, by their kind. */
  readonly #decisions = new Map<string, Decision>();
  #closed = false;

  constructor(
    id: string,
    { policy, secrets }: { policy: NetworkPolicy; secrets: readonly BoundSecret[] },
    shared: SharedByNetworks,
    times: Partial<typeof TIMES> = {},
  ) {
    this.#id = id;
    this.#shared = shared;
    this.#times = { ...TIMES, ...times };
    this.#policy = policy;
    this.#secrets = secrets;
    this.#names = new NameServer({
      fakes: this.#fakes,
      allows: (name) => this.#allowsName(name),
      resolve: (name) => this.resolve(name),
    });
    this.inspector = shared.makeInspector?.({
      id,
      secrets: () => this.#secrets,
      decide: (target) => this.decide(target),
      refused: (target, code, reason) => this.refused(target, 'tls', code, reason),
      dial: (target, signal) => openInspected(this, target, signal),
    });
  }

  /** Serves names until the socket is closed. */
  serveNames(socket: DatagramSocket): void {
    this.#names.serve(socket);
  }

  /** Serves the connections of a listener in the sandbox until it is closed. */
  listen(server: Server): void {
    Object.assign(server, { allowHalfOpen: true, noDelay: true });
    server.on('error', () => undefined);
    server.on('connection', (socket) =>
      contained(socket, () => this.accept(socket, socket.localAddress ?? '', socket.localPort ?? 0)),
    );
  }

  /** A connection of a program to `address`. */
  accept(socket: Socket, address: string, port: number): void {
    socket.on('error', () => undefined);
    const connection = this.#admit(socket, address, port);
    if (connection === undefined) return void reset(socket);
    const { http } = this.#shared;
    const accepted: Accepted = { gate: this, connection, http, times: this.#times };
    if (address.startsWith('127.')) {
      if (port === PROXY_PORT) serveProxy(accepted);
      else if (port === NAME_PORT) this.#names.serveStream(socket);
      // The loopback of the sandbox is its own, but for a port of the host's that a rule names: no other one listens there.
      else if (this.decide({ host: undefined, address, port }).allowed) {
        serveDirect(accepted, { host: undefined, address, port });
      } else reset(socket);
    } else if (!FakeAddresses.contains(address)) {
      serveDirect(accepted, { host: undefined, address, port });
    } else {
      const host = this.#fakes.nameOf(address);
      if (host === undefined) return void reset(socket);
      socket.once('close', this.#fakes.hold(address));
      serveDirect(accepted, { host, address: undefined, port });
    }
  }

  #admit(socket: Socket, address: string, port: number): Connection | undefined {
    if (this.#closed) return undefined;
    const place = this.#connections.isFull
      ? undefined
      : this.#shared.places.take(this.#id, () => {
          this.#refuseTooMany(
            connection.target ?? target,
            'other sandboxes have fewer of all connections of the server',
          );
          connection.cut();
        });
    const target = { host: this.#fakes.nameOf(address), address, port };
    if (place === undefined) {
      this.#refuseTooMany(target, 'too many connections are open');
      return undefined;
    }
    const connection = this.#connections.add(socket, () => place.leave());
    return connection;
  }

  #refuseTooMany(target: Target, reason: string): void {
    this.refused(target, 'tcp', 'too_many_connections', reason);
  }

  /** In force on return: what is no longer allowed is cut. */
  update(policy: NetworkPolicy, secrets: readonly BoundSecret[]): void {
    this.#policy = policy;
    this.#secrets = secrets;
    this.#decisions.clear();
    this.#connections.cut((each) => this.#keeps(each));
  }

  #keeps({ target, info, isOpaque }: Connection): boolean {
    if (target === undefined) return true;
    const decision = this.decide({ ...target, address: target.address ?? (info.address || undefined) });
    if (!decision.allowed) return false;
    const { host } = target;
    const isInspected = info.protocol === 'tls' && host !== undefined && this.inspector?.needed(host, decision.inspect);
    return !(isOpaque && (isInspected || decision.inspect));
  }

  /** Cuts all connections, and takes no more. */
  close(): void {
    this.#closed = true;
    this.#connections.cut(() => false);
  }

  get connections(): ConnectionInfo[] {
    const connections = this.#connections.list();
    return [...connections, ...this.#refusals.besides(connections)].sort((a, b) => b.sequence - a.sequence);
  }

  events(cursor: EventCursor, deniedOnly: boolean): EventBatch {
    return this.#events.read(cursor, deniedOnly);
  }

  refusals(since = 0): Refusal[] {
    return this.#refusals.since(since);
  }

  decide(target: Target): Decision {
    return decide(this.#policy, target, this.#shared.limits);
  }

  refused(target: Target, protocol: string, code: string, reason: string): void {
    this.#refusals.add(target, protocol, code, reason);
  }

  resolve(name: string): ReturnType<Resolution['resolve']> {
    return this.#shared.resolution.resolve(name, this.#id);
  }

  spareDescriptor(): (() => void) | undefined {
    return this.#shared.places.takeSpare();
  }

  nameOf(address: string): string | undefined {
    return this.#fakes.nameOf(address);
  }

  #allowsName(name: string): boolean {
    const { allowMax } = this.#shared.limits;
    const kind = kindOf(this.#policy, name, allowMax);
    const known = this.#decisions.get(kind);
    const decision = known ?? decideName(this.#policy, name, { allowMax, decide: (target) => this.decide(target) });
    if (!known) this.#decisions.set(kind, decision);
    if (this.#decisions.size > MAX_DECISIONS) this.#decisions.clear();
    if (!decision.allowed)
      this.refused({ host: name, address: undefined, port: 0 }, 'dns', decision.code, decision.reason);
    return decision.allowed;
  }
}
