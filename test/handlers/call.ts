import type { Handler, HandlerContext, HandlerEvent } from '../../handlers/index.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { fakeServices, type GivenServices } from '../adapters/fake-services.ts';

/** Absent `guard`: the caller may do everything. */
type Given = GivenServices & Partial<Pick<HandlerContext, 'guard' | 'signal' | 'answered'>>;

/** Calls a handler as an adapter does, with fakes of the services that it uses. */
export function call<Result>(handler: Handler<Result>, event: Partial<HandlerEvent>, given: Given): Promise<Result> {
  const { signal = new AbortController().signal, guard = OPEN, answered, ...services } = given;
  const context = { requestId: 'r', signal, guard, services: fakeServices(services), ...(answered && { answered }) };
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
