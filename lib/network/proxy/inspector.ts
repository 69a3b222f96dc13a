import type { Socket } from 'node:net';
import type { Decision, Target } from '../policy/policy.ts';
import type { BoundSecret } from '../secrets/bound-secret.ts';

/** What was connected to, and the address that was checked. */
export interface InspectedTarget {
  host: string;
  port: number;
  address: string;
}

/** Looks into the TLS connections of one sandbox. */
export interface Inspector {
  /** `policyInspect`: the policy cannot decide without. */
  needed(host: string, policyInspect: boolean): boolean;
  /**
   * Takes over a connection whose ClientHello has the name of `target` as SNI. `head`: what was read of it so far; the socket
   * is paused. The owner of the socket destroys it when the connection is no longer allowed; what was opened for it must
   * end with it. `opened`: is told each such socket.
   */
  handle(socket: Socket, head: Buffer, target: InspectedTarget, opened?: (socket: Socket) => void): void;
  /** The secret whose placeholder is in the head of a request over plain HTTP, where none may be. */
  secretIn(head: readonly string[]): string | undefined;
}

/** The sandbox of an inspector. Everything is that of the moment of the call: the policy and the secrets change. */
export interface InspectedSandbox {
  id: string;
  secrets(): readonly BoundSecret[];
  decide(target: Target): Decision;
  /** Records a refusal, for the owner of the sandbox. */
  refused(target: Target, code: string, reason: string): void;
  /** Opens a TCP connection to the address. Ends with `signal`. The caller owns the socket. */
  dial(target: InspectedTarget, signal: AbortSignal): Promise<Socket>;
}

export type MakeInspector = (sandbox: InspectedSandbox) => Inspector;
