import type { CreateSessionRequest, ListSessionsRequest, Session, SessionExecRequest } from './contract/messages.ts';
import type { Execution } from './runtime/runtime.ts';

/** A command in a session. */
export interface SessionExecution {
  /** As those of `Sandboxes.exec`. */
  events: Execution;
  /** Known from the last event on. */
  outcome(): { session_ended: boolean; session_reset: boolean };
}

/**
 * Shell sessions. They live in memory: none is known after a restart of the server. Errors are ServiceErrors with the codes
 * of the contract.
 */
export interface Sessions {
  /** The shell accepts commands when the call resolves. */
  create(request: CreateSessionRequest, signal: AbortSignal): Promise<Session>;
  get(id: string): Session;
  /** The newest first. */
  list(request: ListSessionsRequest): { sessions: Session[]; next_page_token: string };
  /** Nothing that was started in it is left when the call resolves. */
  destroy(id: string): Promise<void>;
  /** Resolves when the command was given to the shell: after the session's earlier commands. */
  exec(request: SessionExecRequest, signal: AbortSignal): Promise<SessionExecution>;
  /** The sandbox of a session, with its owner; undefined: the session does not exist. */
  placeOf(id: string): { sandbox: string; owner: string } | undefined;
}
