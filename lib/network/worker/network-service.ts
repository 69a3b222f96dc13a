import { Shares } from '../../shares.ts';
import { createInspection, type InspectionOptions } from '../inspection/inspection.ts';
import { OutsideResolution } from '../names/resolution.ts';
import { createSocketMaker, type SocketMaker } from '../namespace/socket-maker.ts';
import { ownAddresses } from '../policy/own-addresses.ts';
import type { Ceiling, NetworkPolicy } from '../policy/policy.ts';
import { HttpProxy } from '../proxy/http-proxy.ts';
import type { SharedByNetworks } from '../proxy/sandbox-network.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';
import type { ConnectionInfo, Refusal, SandboxNetworks } from './networks.ts';
import { OpenedNetwork } from './opened-network.ts';

/** Plain data: it goes to the thread. */
export interface NetworkOptions {
  /** `address` or `address:port`; none: those of the host. */
  resolvers: readonly string[];
  allowMax: Ceiling;
  /** For connections that are looked into; undefined: there are none. */
  inspection: InspectionOptions | undefined;
  /** Connections of all sandboxes at once. Each has two descriptors. */
  maxConnections: number;
}

/** The networks, in the thread that serves them. */
export class NetworkService implements SandboxNetworks {
  readonly #opened = new Map<string, OpenedNetwork>();
  /** The last change of each network that is being changed. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #shared: SharedByNetworks & { maker: SocketMaker };

  constructor(options: NetworkOptions, maker = createSocketMaker()) {
    const connections = new Shares<string>(options.maxConnections);
    this.#shared = {
      maker,
      makeInspector: options.inspection && createInspection(options.inspection),
      resolution: new OutsideResolution(options.resolvers),
      limits: { allowMax: options.allowMax, ownAddresses },
      http: new HttpProxy(),
      admit: (id) => connections.take(id, 1),
      leave: (id) => connections.give(id, 1),
    };
  }

  open(id: string, pid: number, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#close(id);
      if (policy.mode === 'none') return;
      this.#opened.set(id, await OpenedNetwork.open(id, pid, { policy, secrets }, this.#shared));
    });
  }

  update(id: string, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void> {
    return this.#inTurn(id, async () => {
      await this.#opened.get(id)?.update({ policy, secrets });
    });
  }

  close(id: string): Promise<void> {
    return this.#inTurn(id, async () => this.#close(id));
  }

  #close(id: string): void {
    this.#opened.get(id)?.close();
    this.#opened.delete(id);
  }

  /** One change of a network after the other. */
  async #inTurn(id: string, change: () => Promise<void>): Promise<void> {
    const before = this.#turns.get(id);
    const turn = (before ?? Promise.resolve()).then(change);
    const settled = turn.catch(() => undefined);
    this.#turns.set(id, settled);
    try {
      await turn;
    } finally {
      if (this.#turns.get(id) === settled) this.#turns.delete(id);
    }
  }

  async connections(id: string): Promise<ConnectionInfo[]> {
    return this.#opened.get(id)?.network.connections ?? [];
  }

  async refusals(id: string, since?: number): Promise<Refusal[]> {
    return this.#opened.get(id)?.network.refusals(since) ?? [];
  }

  /** Closes all networks. */
  async end(): Promise<void> {
    for (const id of [...this.#opened.keys()]) await this.close(id);
    this.#shared.http.close();
    await this.#shared.maker.close();
  }
}
