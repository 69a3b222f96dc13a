import type { Api } from './api.ts';
import type {
  Connection,
  NetworkEvent,
  NetworkExplanation,
  NetworkPolicy,
  UpdateNetworkRequest,
} from './contract/messages.ts';
import { all, PAGE_SIZE, pages } from './pages.ts';

interface Signal {
  signal?: AbortSignal | undefined;
}

/** A policy: `{ mode: 'allow_list', presets: ['npm'], rules: [{ host: 'api.example.com' }] }`. */
export type NetworkOptions = Omit<UpdateNetworkRequest, 'sandboxId'>;

/** What the commands of a sandbox can connect to. */
export class Network {
  readonly #api: Api;
  readonly #sandboxId: string;

  constructor(api: Api, sandboxId: string) {
    this.#api = api;
    this.#sandboxId = sandboxId;
  }

  /** The policy, with the rules of its presets. */
  get(options: Signal = {}): Promise<NetworkPolicy> {
    return this.#api.getNetwork({ sandboxId: this.#sandboxId }, options);
  }

  /** Replaces the policy. It is in force when this resolves: what it does not allow has been cut. */
  set(policy: NetworkOptions, options: Signal = {}): Promise<NetworkPolicy> {
    return this.#api.updateNetwork({ ...policy, sandboxId: this.#sandboxId }, options);
  }

  /** Whether a connection would be allowed, and what decides it. The port is 443 by default. */
  explain(
    host: string,
    { signal, ...target }: { port?: number; method?: string | undefined; path?: string | undefined } & Signal = {},
  ): Promise<NetworkExplanation> {
    return this.#api.explainNetwork({ ...target, sandboxId: this.#sandboxId, host }, { signal });
  }

  /** The open and the last closed connections, and what was refused, the newest first. */
  connections({ signal }: Signal = {}): Promise<Connection[]> {
    return all(
      pages(
        (pageToken) =>
          this.#api.listConnections({ sandboxId: this.#sandboxId, pageToken, pageSize: PAGE_SIZE }, { signal }),
        ({ connections }) => connections,
      ),
    );
  }

  /**
   * Kept events, and each one as it happens: connections that are opened or end, and refusals. The last one has `end`: the
   * network was closed. It goes on by itself after a lost connection. `after`: `sequence` of the last event that is known.
   */
  async *watch({
    after = 0,
    deniedOnly = false,
    signal,
  }: { after?: number; deniedOnly?: boolean | undefined } & Signal = {}): AsyncGenerator<NetworkEvent, void, void> {
    const request = { sandboxId: this.#sandboxId, after, deniedOnly };
    for await (const event of this.#api.watchNetwork(request, { signal })) if (!event.keepalive) yield event;
  }
}
