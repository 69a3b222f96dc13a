import type { NetworkPolicy } from '../policy/policy.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';

/** A connection of a sandbox, or an attempt that was refused. */
export interface ConnectionInfo {
  /** Increases with each connection of the sandbox. */
  sequence: number;
  /** The name that the program asked for; '' if it used an address. */
  host: string;
  /** The address that was connected to; '' if there was none. */
  address: string;
  port: number;
  /** 'tls', 'http', 'tcp' or 'dns'. */
  protocol: string;
  allowed: boolean;
  /** A `DecisionCode`, or 'unreachable' and the like. */
  code: string;
  reason: string;
  /** Index in the rules of the policy of that time; undefined: none decided. */
  rule: number | undefined;
  /** Bytes that the sandbox sent. */
  sent: number;
  received: number;
  /** Milliseconds since the epoch. */
  openedAt: number;
  /** undefined: it is open. */
  closedAt: number | undefined;
  /** Equal attempts that were refused; 1 of a connection. */
  count: number;
}

/** An attempt that was refused. */
export type RefusedInfo = ConnectionInfo & { allowed: false };

/** What happened in the network of a sandbox. */
export interface NetworkEvent {
  sequence: number;
  kind: 'opened' | 'closed' | 'refused';
  connection: ConnectionInfo;
}

/** Where a reader of events is. */
export interface EventCursor {
  /** Start of the sequence of the network that it was in; 0: unknown. */
  start: number;
  /** Sequence number of the last event that it has. */
  after: number;
  /** Events of each kind that it has, or knows to be lost. */
  read: Readonly<Record<string, number>>;
}

export interface EventBatch {
  events: NetworkEvent[];
  /** Events before these that are not kept any more. */
  lost: number;
  /** After these. */
  cursor: EventCursor;
}

/** A refusal, or several equal ones in a row. */
export interface Refusal {
  sequence: number;
  /** Milliseconds since the epoch, of the last one. */
  at: number;
  host: string;
  address: string;
  port: number;
  protocol: string;
  code: string;
  reason: string;
  count: number;
}

/** The networks of running sandboxes. */
export interface SandboxNetworks {
  /**
   * Opens the network in the namespace of the process `pid`. In force when resolved. Replaces what was open for `id`.
   * FAILED_PRECONDITION: this server cannot; UNAVAILABLE.
   */
  open(id: string, pid: number, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void>;
  /** In force when resolved: open connections that are no longer allowed are cut. */
  update(id: string, policy: NetworkPolicy, secrets: readonly BoundSecret[]): Promise<void>;
  close(id: string): Promise<void>;
  /** Open connections, the last closed ones, and the last refusals, the newest first. */
  connections(id: string): Promise<ConnectionInfo[]>;
  /** Refusals after the sequence number `since`; at most 1,000 are kept for a sandbox. */
  refusals(id: string, since?: number): Promise<Refusal[]>;
  /** The oldest events after a cursor; undefined: the network is not open. */
  events(id: string, cursor: EventCursor, deniedOnly: boolean): Promise<EventBatch | undefined>;
  /** Calls `heard` for the first event after an answer without any. Returns what ends that. */
  onNews(id: string, heard: () => void): () => void;
}
