import type { Api } from './api.ts';
import type {
  Connection,
  ExplainNetworkRequest,
  NetworkEvent,
  NetworkExplanation,
  NetworkPolicy,
  UpdateNetworkRequest,
  WatchNetworkRequest,
} from './contract/messages.ts';
import { joined } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';

/** A policy: `{ mode: 'allow_list', presets: ['npm'], rules: [{ host: 'api.example.com' }] }`. */
export type NetworkOptions = Omit<UpdateNetworkRequest, 'sandboxId'>;

/** What the commands of a sandbox can connect to. */
export class Network {
  readonly #api: Api;
  readonly #of: { sandboxId: string };

  constructor(api: Api, sandboxId: string) {
    this.#api = api;
    this.#of = { sandboxId };
  }

  /** The policy, with the rules of its presets. */
  get(options?: CallOptions): Promise<NetworkPolicy> {
    return this.#api.getNetwork(this.#of, options);
  }

  /** Replaces the policy. It is in force when this resolves: what it does not allow has been cut. */
  set(policy: NetworkOptions, options?: CallOptions): Promise<NetworkPolicy> {
    return this.#api.updateNetwork(this.#of as UpdateNetworkRequest, joined(policy, options));
  }

  /** Whether a connection would be allowed, and what decides it. The port is 443 by default. */
  explain(
    host: string,
    options: Omit<ExplainNetworkRequest, 'sandboxId' | 'host'> & CallOptions = {},
  ): Promise<NetworkExplanation> {
    return this.#api.explainNetwork({ ...this.#of, host }, options);
  }

  /** The open and the last closed connections, and what was refused, the newest first. */
  connections(options?: CallOptions): AsyncGenerator<Connection, void, void> {
    return this.#api.listConnections(this.#of, options);
  }

  /**
   * Kept events, and each one as it happens: connections that are opened or end, and refusals. The last one has `end`: the
   * network was closed. It goes on by itself after a lost connection. `after`: `sequence` of the last event that is known.
   */
  async *watch(
    options: Omit<WatchNetworkRequest, 'sandboxId'> & CallOptions = {},
  ): AsyncGenerator<NetworkEvent, void, void> {
    for await (const event of this.#api.watchNetwork(this.#of, options)) if (!event.keepalive) yield event;
  }
}
