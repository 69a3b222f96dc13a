import type { Handler, HandlerContext, HandlerEvent } from '../../handlers/index.ts';
import { type Guard, OPEN } from '../../lib/access/guard.ts';
import type { Services } from '../../lib/services.ts';

interface Given {
  sandboxes?: Partial<Services['sandboxes']>;
  processes?: Partial<Services['processes']>;
  sessions?: Partial<Services['sessions']>;
  networks?: Partial<Services['networks']>;
  ports?: Partial<Services['ports']>;
  codebases?: Partial<Services['codebases']>;
  images?: Partial<Services['images']>;
  keys?: Partial<Services['keys']>;
  owners?: Partial<Services['owners']>;
  secrets?: Partial<Services['secrets']>;
  /** Absent: the caller may do everything. */
  guard?: Guard;
  limits?: Services['limits'];
  beginCall?: Services['beginCall'];
  timeoutAdvice?: Services['timeoutAdvice'];
  signal?: AbortSignal;
  answered?: HandlerContext['answered'];
}

/** Calls a handler as an adapter does, with fakes of the services that it uses. */
export function call<Result>(handler: Handler<Result>, event: Partial<HandlerEvent>, given: Given): Promise<Result> {
  const { signal = new AbortController().signal, guard = OPEN, answered, ...services } = given;
  const context = { requestId: 'r', signal, guard, services: services as Services, ...(answered && { answered }) };
  return handler({ headers: {}, ...event }, context);
}

/** Returns the event that REST creates for a JSON body. */
export function json(body: unknown): Partial<HandlerEvent> {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Returns the event that gRPC creates for a message. */
export function message(body: object): Partial<HandlerEvent> {
  return { headers: { 'content-type': 'application/grpc' }, body };
}
