import type { HandlerContext } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';
import { withThread } from '../../lib/threads/with-thread.ts';

/** Bytes of a body that is parsed in another thread: a megabyte of escapes takes 20 ms. */
export const LONG_JSON = 512 * 1024;
const MAX_MS = 30_000;

/** Parses a long JSON body in a thread of the caller's owner; `ofCommand`: it has a command's input. Throws INVALID_ARGUMENT. */
export function parsedInThread(
  bytes: Uint8Array,
  { services, guard, signal }: Pick<HandlerContext, 'services' | 'guard' | 'signal'>,
  ofCommand = false,
): Promise<unknown> {
  const late = () =>
    new ServiceError('DEADLINE_EXCEEDED', `the request body took more than ${MAX_MS / 1000} s to parse`);
  const threads = services.textTools.of(guard.principal.owner_id);
  return withThread(threads, { signal, most: MAX_MS, late }, (tools) =>
    ofCommand ? tools.parseCommand(bytes) : tools.parseJson(bytes),
  );
}
