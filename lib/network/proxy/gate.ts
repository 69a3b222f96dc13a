import type { Addresses } from '../names/resolution.ts';
import type { Decision, Target } from '../policy/policy.ts';
import type { InspectedTarget, Inspector } from './inspector.ts';

/** What the proxy asks of one sandbox. Its policy is that of the moment of the call. */
export interface Gate {
  decide(target: Target): Decision;
  /** Records a refusal. */
  refused(target: Target, protocol: string, code: string, reason: string): void;
  /** Outside, for an allowed name. Rejects if no resolver answers. */
  resolve(name: string): Promise<Addresses>;
  /** A descriptor for one more attempt to connect, until the returned function is called. undefined: there is none. */
  spareDescriptor(): (() => void) | undefined;
  /** The name that a fake address of the sandbox stands for. */
  nameOf(address: string): string | undefined;
  readonly inspector: Inspector | undefined;
}

/** Where a program connects to: a name, or an address. */
export type Destination =
  | { host: string; address: undefined; port: number }
  | { host: undefined; address: string; port: number };

/** Why a connection is not made. The program gets `message` where its protocol has a place for it. */
export class Refused extends Error {
  readonly code: string;
  /** The address that was refused; undefined: the decision was about a name or a request. */
  readonly address: string | undefined;

  constructor(code: string, message: string, address?: string) {
    super(message);
    this.code = code;
    this.address = address;
  }
}

/** The other end cannot be reached, although the policy allows it. */
export class Unreachable extends Error {
  readonly code: string;
  readonly isTimeout: boolean;

  constructor(code: string, message: string, isTimeout = false) {
    super(message);
    this.code = code;
    this.isTimeout = isTimeout;
  }
}

export function refuse({ code, reason }: Decision, target: Target): Refused {
  return new Refused(code, `${inWords(target)} is not allowed. ${reason}`, target.address);
}

/** Records the refusal of a connection, with the address behind its name. */
export function record(gate: Pick<Gate, 'refused'>, error: Refused, target: Target, protocol: string): void {
  gate.refused({ ...target, address: error.address || target.address }, protocol, error.code, error.message);
}

export function inWords({ host, address, port }: Target | InspectedTarget): string {
  return `${host ?? address}:${port}`;
}
