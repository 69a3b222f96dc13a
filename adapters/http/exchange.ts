import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HandlerContext, HandlerEvent, Operation } from '../../handlers/index.ts';
import type { Log } from '../../lib/log.ts';
import type { Turns } from '../../lib/turns.ts';

/** One request on its way through the adapter. */
export interface Exchange<Kind extends Operation['kind'] = Operation['kind']> {
  req: IncomingMessage;
  res: ServerResponse;
  operation: Operation & { kind: Kind };
  /** Headers, path and query; what carries a body adds it. */
  event: HandlerEvent;
  context: HandlerContext;
  /** Of the listener, for what is made in steps. */
  turns: Turns;
  log: Log;
}
