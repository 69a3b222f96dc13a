import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import { withBreaks } from '../lib/breaks.ts';
import type { Rpcs } from '../lib/contract/messages.ts';
import { ServiceError } from '../lib/errors.ts';
import type { AttachInput } from '../lib/process-services.ts';
import { invalidJson } from '../lib/text-tools/parse-json.ts';
import type { Declaration, DeclaredHandler, Kind, Results } from './declaration.ts';
import { asUse } from './input/active-call.ts';
import { attachOutput, openAttach } from './input/attach-input.ts';
import { type Constraints, checkRequired } from './input/constraints.ts';
import type { Handler, HandlerContext, HandlerEvent } from './input/handler.ts';
import { fromMergePatch } from './input/merge-patch.ts';
import { readingRequest } from './input/request.ts';
import { type Rpc, requestFields } from './input/request-fields.ts';
import { untilAborted } from './input/until-aborted.ts';
import { readUpload } from './input/upload.ts';

export { CONTENT, LISTS } from './declaration.ts';
export * from './input/change-constraints.ts';
export { type Download, download } from './input/download.ts';
export { type Export, exported } from './input/export.ts';
export type { Handler, HandlerContext, HandlerEvent } from './input/handler.ts';
export { KEEPALIVE_MS, keptAlive } from './input/kept-alive.ts';
export * from './input/network-constraints.ts';
export type { Rpc } from './input/request-fields.ts';
export * from './input/shared-constraints.ts';

type Message<N extends Rpc> = Omit<Rpcs[N]['request'], 'chunk'>;

/** The request type of an rpc. A string field with a closed set of values has that set as its type. */
export type RequestOf<N extends Rpc, C extends Constraints> = {
  [K in keyof Message<N>]: K extends keyof C
    ? C[K] extends { values: readonly (infer V)[] }
      ? V | (C[K] extends { required: true } ? never : '')
      : Message<N>[K]
    : Message<N>[K];
};

type Handle<Request, Result> = (
  input: HandlerEvent & { request: Request },
  context: HandlerContext,
) => Result | Promise<Result>;

interface MiddyRequest {
  event: HandlerEvent & { request?: unknown };
  context: HandlerContext;
  error: unknown;
}

/**
 * Creates the Middy handler of an rpc. A JSON body is parsed, and the request message is read according to the
 * contract's fields and `constraints` (INVALID_ARGUMENT naming the field), and the caller's rights are checked, before
 * `handle` is called. Errors of `handle` reach the adapter unchanged.
 */
export function define<
  N extends Rpc,
  Result extends Results[K],
  const C extends Constraints = Record<never, never>,
  K extends Kind = 'unary',
>(declaration: Declaration<N, C, K>, handle: Handle<RequestOf<N, C>, Result>): DeclaredHandler<Result> {
  const { rpc, patch, isUse } = declaration;
  const { constraints, fields } = constraintsOf(declaration);
  const read = async (event: HandlerEvent, { guard, idempotencyKey, signal }: HandlerContext) => {
    const prepared = patch ? { ...event, body: fromMergePatch(event.body, patch) } : event;
    const request = await withBreaks(readingRequest(fields, prepared));
    checkRequired(request, constraints);
    const placed = guard.place(signal);
    if (placed !== undefined) await placed;
    return idempotencyKey === undefined ? guard.narrow(request) : request;
  };
  const used: Handle<RequestOf<N, C>, Result> = (input, context) =>
    isUse === false ? handle(input, context) : asUse(input.request, context, () => handle(input, context));
  const carryOut: Handle<RequestOf<N, C>, Result> = (input, context) =>
    context.idempotencyKey === undefined
      ? used(input, context)
      : once(rpc, context.idempotencyKey, input, context, used);
  return declared(declaration, middyHandler(read, carryOut as Handle<never, Result>));
}

function constraintsOf<N extends Rpc, C extends Constraints>({ rpc, constraints = {} as C }: Declaration<N, C>) {
  return { constraints, fields: requestFields(rpc, constraints) };
}

/** The declaration is part of the handler: the table of operations, the documents and the clients are made of it. */
function declared<Result>(declaration: Declaration, handler: Handler<Result>): DeclaredHandler<Result> {
  return Object.assign(handler, { constraints: {}, ...declaration });
}

/** Carries out a call with an idempotency key; its request is not narrowed yet. */
function once<Request extends object, Result>(
  operation: Rpc,
  key: string,
  input: HandlerEvent & { request: Request },
  context: HandlerContext,
  handle: Handle<Request, Result>,
): Promise<Result> {
  const { guard, services } = context;
  return services.retries.once(
    { key, operation, request: input.request, principal: guard.principal },
    () => guard.narrow(input.request),
    (request, intent) => handle({ ...input, request }, { ...context, intent }),
  );
}

/** Like `define`, for an rpc with a client stream: `content` are the bytes after the request's fields. */
export function defineUpload<N extends Rpc, Result, const C extends Constraints = Record<never, never>>(
  declaration: Declaration<N, C, 'raw' | 'multipart'>,
  handle: (
    request: RequestOf<N, C>,
    content: AsyncIterable<Uint8Array>,
    context: HandlerContext,
  ) => Result | Promise<Result>,
): DeclaredHandler<Result> {
  const { constraints, fields } = constraintsOf(declaration);
  const upload: Handle<Record<string, unknown>, Result> = async ({ request, stream }, context) => {
    const read = await readUpload(fields, request, stream && untilAborted(stream, context.signal));
    checkRequired(read.request, constraints);
    // On gRPC the request is known only here: it is the first message of the stream.
    const narrowed = context.guard.narrow(read.request);
    return asUse(narrowed, context, () => handle(narrowed as RequestOf<N, C>, read.content, context));
  };
  const read = (event: HandlerEvent) => withBreaks(readingRequest(fields, event));
  return declared(declaration, middyHandler(read, upload as Handle<never, Result>));
}

/**
 * Like `define`, for an rpc with a stream in both directions: `input` is what the client sends beside the request. The
 * output ends with an error when the call is aborted or its input fails. The adapter must read the output until its end,
 * or close it after the first message.
 */
export function defineAttach<N extends Rpc, Result, const C extends Constraints = Record<never, never>>(
  declaration: Declaration<N, C, 'attach'>,
  handle: (
    request: RequestOf<N, C>,
    input: AttachInput,
    context: HandlerContext,
  ) => AsyncIterable<Result> | Promise<AsyncIterable<Result>>,
): DeclaredHandler<AsyncIterable<Result>> {
  const { constraints, fields } = constraintsOf(declaration);
  const attach: Handle<Record<string, unknown>, AsyncIterable<Result>> = async ({ request, stream }, context) => {
    const opened = await openAttach(fields, request, stream && untilAborted(stream, context.signal));
    checkRequired(opened.request, constraints);
    const narrowed = context.guard.narrow(opened.request) as RequestOf<N, C>;
    const input = opened.start(context.signal);
    try {
      return attachOutput(await asUse(narrowed, context, () => handle(narrowed, input, context)), input);
    } catch (error) {
      input.end();
      throw error;
    }
  };
  const read = (event: HandlerEvent) => withBreaks(readingRequest(fields, event));
  const handler = middyHandler(read, attach as Handle<never, AsyncIterable<Result>>);
  return declared({ ...declaration, kind: 'attach' }, handler);
}

/** Creates the handler of an operation that is not an rpc and has no request fields. */
export function defineWithoutRequest<Result>(
  declaration: Declaration<'Health'>,
  handle: Handle<Record<string, never>, Result>,
): DeclaredHandler<Result> {
  const read = (event: HandlerEvent) => withBreaks(readingRequest({}, event));
  return declared(declaration, middyHandler(read, handle as Handle<never, Result>));
}

function middyHandler<Result>(
  read: (event: HandlerEvent, context: HandlerContext) => Promise<unknown>,
  handle: Handle<never, Result>,
): Handler<Result> {
  const before = async ({ event, context }: MiddyRequest): Promise<void> => {
    event.request = await read(event, context);
  };
  const handler: unknown = middy()
    .use(jsonBodyParser({ disableContentTypeError: true }))
    .use({ before, onError: nameParserError })
    .handler(handle as never);
  return handler as Handler<Result>;
}

/** The parser throws HTTP errors (415, 422); callers of both protocols get INVALID_ARGUMENT with the reason. */
function nameParserError({ error }: MiddyRequest): void {
  const cause = error instanceof Error && !(error instanceof ServiceError) ? error.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('package' in cause)) return;
  if (cause.package !== '@middy/http-json-body-parser') return;
  throw invalidJson('message' in cause ? String(cause.message) : '');
}
