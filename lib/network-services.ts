import type {
  Connection,
  ExplainNetworkRequest,
  ListConnectionsRequest,
  NetworkEvent,
  NetworkExplanation,
  NetworkPolicy,
  NetworkPreset,
  UpdateNetworkRequest,
  WatchNetworkRequest,
} from './contract/messages.ts';

/** The policies of the networks of sandboxes, and what passes through them. */
export interface Networks {
  get(sandboxId: string): NetworkPolicy;
  /** In force, for open connections too, and durable when the call resolves. */
  update(request: UpdateNetworkRequest): Promise<NetworkPolicy>;
  explain(request: ExplainNetworkRequest): NetworkExplanation;
  /** The newest first. */
  connections(request: ListConnectionsRequest): Promise<{ connections: Connection[]; next_page_token: string }>;
  /**
   * The events of its network, until that is closed. It has started when this resolves. Ends with an error when the signal is
   * aborted.
   */
  watch(request: WatchNetworkRequest, signal: AbortSignal): Promise<AsyncIterable<NetworkEvent>>;
  presets(): readonly NetworkPreset[];
}
