import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HandlerContext, HandlerEvent, Operation } from '../../handlers/index.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import type { Log } from '../../lib/log.ts';
import type { Turns } from '../../lib/turns.ts';

/** A request in progress and its response. */
export interface Exchange<Kind extends Operation['kind'] = Operation['kind']> {
  req: IncomingMessage;
  res: ServerResponse;
  /** Present if the client asks for a WebSocket: the first bytes after the request. */
  head: Buffer | undefined;
  operation: Operation & { kind: Kind };
  /** Headers, path and query. The function that reads the body adds it. */
  event: HandlerEvent;
  context: HandlerContext;
  /** The memory of the request's body, if it may have one. */
  received: Received | undefined;
  /** See `unsentOn`. */
  unsent: (bytes: number) => void;
  /** The URL has a ticket: no cache may keep the response. */
  hasTicket: boolean;
  /** The listener's turns, for responses that are encoded in steps. */
  turns: Turns;
  log: Log;
}
