import type { Socket } from 'node:net';
import type { Principal } from './access/principal.ts';
import type {
  ListPortsRequest,
  ListPortsResponse,
  OpenedPort,
  OpenPortRequest,
  OpenPortResponse,
} from './contract/messages.ts';
import type { ServiceError } from './errors.ts';
import type { PortAccess } from './field-values.ts';
import type { Narrowed } from './sandbox-requests.ts';

export type NewPort = Narrowed<OpenPortRequest, { access: PortAccess | '' }>;

/** Where a connection leads: two with the same name lead to the same run of a sandbox, through the same opening of a port. */
export interface Route {
  name: string;
  /** As that of `PortUse`. */
  connect(): Promise<Socket>;
}

/** A use of an opened port. */
export interface PortUse {
  /**
   * A connection from inside of the sandbox. Throws `NothingListens`, FAILED_PRECONDITION for a sandbox that does not run, or
   * UNAVAILABLE.
   */
  connect(signal: AbortSignal): Promise<Socket>;
  /** For a request that may have the connection of an earlier one. */
  route(signal: AbortSignal): Route;
  /** Must be called once, at the end. */
  end(): void;
}

/** An opened port as callers from outside find it. */
export interface Door {
  /** Unix time in seconds; 0: never. */
  readonly expires_at: number;
  /** Who has the link token: an agent of the sandbox, as far as this port goes. */
  readonly holder: Principal;
  /** Whether it is the present link token of this port. */
  accepts(token: string): boolean;
  /** Begins a use, which is told to end when the port is closed, is opened anew or expires. Throws RESOURCE_EXHAUSTED. */
  use(cut: (reason: ServiceError) => void): PortUse;
}

/** The opened ports of sandboxes. Errors are ServiceErrors with the codes of the contract. */
export interface Ports {
  /** Durable when the call resolves. A port that is open already is replaced, with its token and its connections. */
  open(request: NewPort): Promise<OpenPortResponse>;
  list(request: ListPortsRequest, signal: AbortSignal): Promise<ListPortsResponse>;
  get(sandboxId: string, port: number): OpenedPort;
  /** Its connections are cut and its token is not valid any more when the call resolves. */
  close(sandboxId: string, port: number): Promise<void>;
  /** undefined: the port is not open, or there is no such sandbox. */
  find(sandboxId: string, port: number): Door | undefined;
}
