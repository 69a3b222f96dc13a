import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import { ServiceError } from '../lib/errors.ts';
import type { Services } from '../lib/services.ts';
import { type Fields, type MessageOf, string } from './input/kinds.ts';
import { readRequest } from './input/request.ts';

export * from './input/kinds.ts';

/** The subset of API Gateway's v2 event that both protocols fill, and what streams in. */
export interface HandlerEvent {
  /** Lower-case names. `content-type` says what `body` is: JSON text, or (application/grpc) a decoded message. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  pathParameters?: Readonly<Record<string, string>>;
  queryStringParameters?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Bytes of one file (REST), or messages of a client stream (gRPC). An error of it is the client's going away. */
  stream?: AsyncIterable<unknown>;
}

export interface HandlerContext {
  requestId: string;
  /** Aborted when the client goes away. */
  signal: AbortSignal;
  services: Services;
  /** Calls back once, when the answer has left or never will. Absent: nobody tells. */
  answered?: (release: () => void) => void;
}

export type Handler<Result = unknown> = (event: HandlerEvent, context: HandlerContext) => Promise<Result>;

/** What a handler's own function is given: the event with its request message read. */
export interface Input<F extends Fields> extends HandlerEvent {
  request: MessageOf<F>;
}

interface MiddyRequest {
  event: HandlerEvent & { request?: unknown };
  error: unknown;
}

export { dataMessages } from './input/data-messages.ts';
/** The fields of ExecRequest, which two operations take. */
export { execRequest } from './input/exec-request.ts';

/** Whose view of what, of every operation on a sandbox's files. */
export { fileRequest } from './input/file-request.ts';
/** The rules of a sandbox, which two operations take. */
export { permissionRules } from './input/permission-rules.ts';

export { resourceLimits } from './input/resource-limits.ts';
export { readUpload } from './input/upload.ts';

/** The only field of many requests. */
export const sandboxId = { sandbox_id: string };
export const codebaseId = { codebase_id: string };

/**
 * A Middy handler for one operation: the body is parsed where it is JSON, the request message read by its table of
 * fields, then `handle` called. Whatever it throws reaches the adapter as it is.
 */
export function define<const F extends Fields, Result>(
  fields: F,
  handle: (input: Input<F>, context: HandlerContext) => Result | Promise<Result>,
): Handler<Result> {
  const handler: unknown = middy()
    .use(jsonBodyParser({ disableContentTypeError: true }))
    .use({ before: input(fields), onError: nameParserError })
    .handler(handle as never);
  return handler as Handler<Result>;
}

function input(fields: Fields) {
  return ({ event }: MiddyRequest): void => {
    event.request = readRequest(fields, event);
  };
}

/** The parser speaks HTTP (415, 422); a caller of either protocol is told the code and the reason. */
function nameParserError({ error }: MiddyRequest): void {
  const cause = error instanceof Error && !(error instanceof ServiceError) ? error.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('package' in cause)) return;
  if (cause.package !== '@middy/http-json-body-parser') return;
  const reason = 'message' in cause ? `: ${String(cause.message).slice(0, 200)}` : '';
  throw new ServiceError('INVALID_ARGUMENT', `the request body is not valid JSON${reason}`);
}
