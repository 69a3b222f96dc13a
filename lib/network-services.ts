import type {
  Connection,
  ExplainNetworkRequest,
  ListConnectionsRequest,
  NetworkExplanation,
  NetworkPolicy,
  NetworkPreset,
  UpdateNetworkRequest,
} from './contract/messages.ts';

/** The policies of the networks of sandboxes, and what passes through them. */
export interface Networks {
  get(sandboxId: string): NetworkPolicy;
  /** In force, for open connections too, and durable when the call resolves. */
  update(request: UpdateNetworkRequest): Promise<NetworkPolicy>;
  explain(request: ExplainNetworkRequest): NetworkExplanation;
  /** The newest first. */
  connections(request: ListConnectionsRequest): Promise<{ connections: Connection[]; next_page_token: string }>;
  presets(): readonly NetworkPreset[];
}
