import type {
  ListPortsRequest,
  ListPortsResponse,
  OpenedPort,
  OpenPortRequest,
  OpenPortResponse,
} from './contract/messages.ts';
import type { PortAccess } from './field-values.ts';
import type { Narrowed } from './sandbox-requests.ts';

export type NewPort = Narrowed<OpenPortRequest, { access: PortAccess | '' }>;

/** The opened ports of sandboxes. Errors are ServiceErrors with the codes of the contract. */
export interface Ports {
  /** Durable when the call resolves. A port that is open already is replaced, with its token and its connections. */
  open(request: NewPort): Promise<OpenPortResponse>;
  list(request: ListPortsRequest, signal: AbortSignal): Promise<ListPortsResponse>;
  get(sandboxId: string, port: number): OpenedPort;
  /** Its connections are cut and its token is not valid any more when the call resolves. */
  close(sandboxId: string, port: number): Promise<void>;
}
