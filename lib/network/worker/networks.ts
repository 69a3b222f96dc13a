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
  /** Open connections and the last closed ones, the newest first. */
  connections(id: string): Promise<ConnectionInfo[]>;
  /** Refusals after the sequence number `since`; at most 1,000 are kept for a sandbox. */
  refusals(id: string, since?: number): Promise<Refusal[]>;
}
