import { Shares } from '../../shares.ts';
import { createInspection, type InspectionOptions } from '../inspection/inspection.ts';
import { OutsideResolution } from '../names/resolution.ts';
import { createSocketMaker, type HostProcess } from '../namespace/socket-maker.ts';
import { ownAddresses } from '../policy/own-addresses.ts';
import type { Ceiling, NetworkPolicy } from '../policy/policy.ts';
import { ConnectionPlaces } from '../proxy/connection-places.ts';
import { HttpProxy } from '../proxy/http-proxy.ts';
import type { SharedByNetworks } from '../proxy/sandbox-network.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';
import type { ConnectionInfo, EventBatch, EventCursor, Refusal, SandboxNetworks } from './networks.ts';
import { OpenedNetwork, type OpenedWith } from './opened-network.ts';

/** Plain data: it goes to the thread. */
export interface NetworkOptions {
  /** `address` or `address:port`; none: those of the host. */
  resolvers: readonly string[];
  allowMax: Ceiling;
  /** For connections that are looked into; undefined: there are none. */
  inspection: InspectionOptions | undefined;
  /** Most of them for all networks: for what listens in sandboxes, and for connections, which have two each. */
  descriptors: { listeners: number; connections: number };
}

/** Connections at once: what their heads and buffers need must fit into the memory of the thread. */
const MOST_CONNECTIONS = 4096;
/** Of the descriptors for connections: for second attempts to connect. */
const FOR_ATTEMPTS = 0.2;

function placesFor(descriptors: number): ConnectionPlaces {
  const spare = Math.floor(descriptors * FOR_ATTEMPTS);
  const total = Math.floor((descriptors - spare) / 2);
  return new ConnectionPlaces(Math.min(MOST_CONNECTIONS, total), spare);
}

/** The networks, in the thread that serves them. */
export class NetworkService implements Omit<SandboxNetworks, 'onNews'> {
  readonly #opened = new Map<string, OpenedNetwork>();
  /** The last change of each network that is being changed. */
  readonly #turns = new Map<string, Promise<void>>();
  readonly #shared: SharedByNetworks & OpenedWith;

  /** `news`: called for the first event of a network after an answer of `events` without any. */
  constructor(options: NetworkOptions, news?: (id: string) => void, maker = createSocketMaker()) {
    this.#shared = {
      maker,
      makeInspector: options.inspection && createInspection(options.inspection),
      resolution: new OutsideResolution(options.resolvers),
      limits: { allowMax: options.allowMax, ownAddresses },
      http: new HttpProxy(),
      places: placesFor(options.descriptors.connections),
      listeners: new Shares(options.descriptors.listeners),
      ...(news && { news }),
    };
  }

  open(id: string, process: HostProcess, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void> {
    return this.#inTurn(id, async () => {
      this.#close(id);
      if (policy.mode === 'none') return;
      this.#opened.set(id, await OpenedNetwork.open(id, process, { policy, secrets }, this.#shared));
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

  async events(id: string, cursor: EventCursor, deniedOnly: boolean): Promise<EventBatch | undefined> {
    return this.#opened.get(id)?.network.events(cursor, deniedOnly);
  }

  /** Closes all networks. */
  async end(): Promise<void> {
    for (const id of [...this.#opened.keys()]) await this.close(id);
    this.#shared.http.close();
    await this.#shared.maker.close();
  }
}
