import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server } from 'node:net';
import { ServiceError } from '../../errors.ts';
import type { Shares } from '../../shares.ts';
import type { HostProcess, SocketMaker, WantedSockets } from '../namespace/socket-maker.ts';
import type { NetworkPolicy } from '../policy/policy.ts';
import { NAME_PORT, PROXY_PORT, SandboxNetwork, type SharedByNetworks } from '../proxy/sandbox-network.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';
import { added, type Wanted, wantedBy } from './listeners.ts';

/** What opening needs beside what networks share. */
export interface OpenedWith {
  maker: SocketMaker;
  /** Descriptors of what listens in sandboxes. */
  listeners: Shares<string>;
}

export interface Terms {
  policy: NetworkPolicy;
  secrets: readonly BoundSecret[];
}

const LOCAL = '127.0.0.1';
const place = (port: number) => ({ address: '0.0.0.0', port });

/** A sandbox's network with its sockets in the namespace of a process of it. */
export class OpenedNetwork {
  readonly network: SandboxNetwork;
  readonly #id: string;
  readonly #process: HostProcess;
  readonly #with: OpenedWith;
  readonly #servers = new Map<number, Server>();
  readonly #always: (Server | DatagramSocket)[] = [];
  #terms: Terms;
  #routes: ReadonlySet<string>;

  private constructor(id: string, process: HostProcess, terms: Terms, shared: SharedByNetworks & OpenedWith) {
    this.network = new SandboxNetwork(id, terms, shared);
    this.#id = id;
    this.#process = process;
    this.#with = shared;
    this.#terms = terms;
    this.#routes = wantedBy(terms.policy).routes;
  }

  /** Rejects, with nothing left, as `SocketMaker.open` does. */
  static async open(id: string, process: HostProcess, terms: Terms, shared: SharedByNetworks & OpenedWith) {
    const opened = new OpenedNetwork(id, process, terms, shared);
    await opened.#open(wantedBy(terms.policy));
    return opened;
  }

  async #open({ ports, routes }: Wanted): Promise<void> {
    const always = [NAME_PORT, PROXY_PORT].map((port) => ({ address: LOCAL, port }));
    const tcp = [...always, ...[...ports].map(place)];
    const udp = [{ address: LOCAL, port: NAME_PORT }];
    const { servers, datagrams } = await this.#make({ tcp, udp, routes: [...routes] });
    for (const each of servers) this.network.listen(each);
    for (const each of datagrams) this.network.serveNames(each);
    this.#always.push(...servers.slice(0, always.length), ...datagrams);
    for (const [at, port] of [...ports].entries()) this.#servers.set(port, servers[always.length + at]!);
  }

  /** Within the sandbox's share of descriptors. */
  async #make(wanted: WantedSockets): ReturnType<SocketMaker['open']> {
    const { maker, listeners } = this.#with;
    const count = wanted.tcp.length + wanted.udp.length;
    if (!listeners.take(this.#id, count)) {
      const problem = `the server has no descriptors left for the ${count} ports that the network needs; policies with fewer ports need fewer`;
      throw new ServiceError('RESOURCE_EXHAUSTED', problem);
    }
    try {
      return await maker.open(this.#process, wanted);
    } catch (error) {
      listeners.give(this.#id, count);
      throw error;
    }
  }

  /**
   * In force when resolved. Rejects with the old terms in force if a listener cannot be made; connections that the new ones
   * do not allow are cut then, too.
   */
  async update(terms: Terms): Promise<void> {
    const before = this.#terms;
    const [from, to] = [wantedBy(before.policy), wantedBy(terms.policy)];
    this.network.update(terms.policy, terms.secrets);
    try {
      await this.#extend(added(from.ports, to.ports), added(this.#routes, to.routes));
    } catch (error) {
      this.network.update(before.policy, before.secrets);
      throw error;
    }
    this.#terms = terms;
    for (const port of added(to.ports, from.ports)) this.#closePort(port);
    const unwanted = added(to.routes, this.#routes);
    this.#routes = to.routes;
    // A route that stays leads to listeners that refuse.
    if (unwanted.length > 0) await this.#with.maker.routes(this.#process, [], unwanted).catch(() => undefined);
  }

  async #extend(ports: readonly number[], routes: readonly string[]): Promise<void> {
    if (ports.length === 0 && routes.length === 0) return;
    const { servers } = await this.#make({ tcp: ports.map(place), udp: [], routes });
    for (const [at, server] of servers.entries()) {
      this.network.listen(server);
      this.#servers.set(ports[at]!, server);
    }
  }

  #closePort(port: number): void {
    this.#servers.get(port)?.close();
    if (this.#servers.delete(port)) this.#with.listeners.give(this.#id, 1);
  }

  close(): void {
    const all = [...this.#servers.values(), ...this.#always];
    for (const each of all) each.close();
    if (all.length > 0) this.#with.listeners.give(this.#id, all.length);
    this.#servers.clear();
    this.#always.length = 0;
    this.network.close();
  }
}
