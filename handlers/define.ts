import middy from '@middy/core';
import jsonBodyParser from '@middy/http-json-body-parser';
import type { Guard } from '../lib/access/guard.ts';
import { withBreaks } from '../lib/breaks.ts';
import type { Rpcs } from '../lib/contract/messages.ts';
import { ServiceError } from '../lib/errors.ts';
import type { AttachInput } from '../lib/process-services.ts';
import type { Services } from '../lib/services.ts';
import { invalidJson } from '../lib/text-tools/parse-json.ts';
import { asUse, isUse } from './input/active-call.ts';
import { attachOutput, openAttach } from './input/attach-input.ts';
import { type Constraints, checkRequired } from './input/constraints.ts';
import { fromMergePatch, type MergePatch } from './input/merge-patch.ts';
import { readingRequest } from './input/request.ts';
import { type Rpc, requestFields } from './input/request-fields.ts';
import { untilAborted } from './input/until-aborted.ts';
import { readUpload } from './input/upload.ts';

export * from './input/change-constraints.ts';
export { type Download, download } from './input/download.ts';
export { type Export, exported } from './input/export.ts';
export { KEEPALIVE_MS, keptAlive } from './input/kept-alive.ts';
export * from './input/network-constraints.ts';
export type { Rpc } from './input/request-fields.ts';
export * from './input/shared-constraints.ts';

/** The subset of an API Gateway v2 event that both protocols provide, with the streamed input. */
export interface HandlerEvent {
  /**
   * Header names in lower case. `content-type` describes `body`: JSON text, or (application/grpc) a decoded message.
   */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  pathParameters?: Readonly<Record<string, string>>;
  queryStringParameters?: Readonly<Record<string, string>>;
  /** Parameters of the query that are lists; each occurrence is an element. */
  queryLists?: Readonly<Record<string, readonly string[]>>;
  body?: unknown;
  /** Bytes of one file (REST), or messages of a client stream (gRPC). It throws if the client disconnects. */
  stream?: AsyncIterable<unknown>;
}

export interface HandlerContext {
  requestId: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** The rights of the caller, who is authenticated. `define` checks every request with it. */
  guard: Guard;
  services: Services;
  /** The call's idempotency key, if its operation takes one and it has one. */
  idempotencyKey?: string | undefined;
  /** Set with an idempotency key: what the handler creates must be stored with it; see `Retries`. */
  intent?: string;
  /** Registers a callback for when the response was sent or has failed. Absent: not available. */
  answered?: (release: () => void) => void;
  /** Bytes of a unary answer that the caller can receive; absent: any number. */
  answerBytes?: number;
}

export type Handler<Result = unknown> = (event: HandlerEvent, context: HandlerContext) => Promise<Result>;

/** A handler, with the constraints of its request beyond the types of its fields. */
export interface RpcHandler<Result> extends Handler<Result> {
  readonly rpc: Rpc;
  readonly constraints: Constraints;
  /** Present if the JSON body is a merge patch. */
  readonly patch?: MergePatch;
}

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
export function define<N extends Rpc, const C extends Constraints, Result>(
  rpc: N,
  constraints: C,
  handle: Handle<RequestOf<N, C>, Result>,
): RpcHandler<Result> {
  return unary(rpc, constraints, handle, (event) => event);
}

/** Like `define`, for an rpc whose JSON body is a merge patch. */
export function definePatch<N extends Rpc, const C extends Constraints, Result>(
  rpc: N,
  constraints: C,
  patch: MergePatch,
  handle: Handle<RequestOf<N, C>, Result>,
): RpcHandler<Result> {
  const handler = unary(rpc, constraints, handle, (event) => ({ ...event, body: fromMergePatch(event.body, patch) }));
  return Object.assign(handler, { patch });
}

function unary<N extends Rpc, const C extends Constraints, Result>(
  rpc: N,
  constraints: C,
  handle: Handle<RequestOf<N, C>, Result>,
  prepare: (event: HandlerEvent) => HandlerEvent,
): RpcHandler<Result> {
  const fields = requestFields(rpc, constraints);
  const read = async (event: HandlerEvent, { guard, idempotencyKey, signal }: HandlerContext) => {
    const request = await withBreaks(readingRequest(fields, prepare(event)));
    checkRequired(request, constraints);
    const placed = guard.place(signal);
    if (placed !== undefined) await placed;
    return idempotencyKey === undefined ? guard.narrow(request) : request;
  };
  const used: Handle<RequestOf<N, C>, Result> = (input, context) =>
    isUse(rpc) ? asUse(input.request, context, () => handle(input, context)) : handle(input, context);
  const carryOut: Handle<RequestOf<N, C>, Result> = (input, context) =>
    context.idempotencyKey === undefined
      ? used(input, context)
      : once(rpc, context.idempotencyKey, input, context, used);
  return Object.assign(middyHandler(read, carryOut as Handle<never, Result>), { rpc, constraints });
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
export function defineUpload<N extends Rpc, const C extends Constraints, Result>(
  rpc: N,
  constraints: C,
  handle: (
    request: RequestOf<N, C>,
    content: AsyncIterable<Uint8Array>,
    context: HandlerContext,
  ) => Result | Promise<Result>,
): RpcHandler<Result> {
  const fields = requestFields(rpc, constraints);
  const upload: Handle<Record<string, unknown>, Result> = async ({ request, stream }, context) => {
    const read = await readUpload(fields, request, stream && untilAborted(stream, context.signal));
    checkRequired(read.request, constraints);
    // On gRPC the request is known only here: it is the first message of the stream.
    const narrowed = context.guard.narrow(read.request);
    return asUse(narrowed, context, () => handle(narrowed as RequestOf<N, C>, read.content, context));
  };
  const handler = middyHandler((event) => withBreaks(readingRequest(fields, event)), upload as Handle<never, Result>);
  return Object.assign(handler, { rpc, constraints });
}

/**
 * Like `define`, for an rpc with a stream in both directions: `input` is what the client sends beside the request. The
 * output ends with an error when the call is aborted or its input fails. The adapter must read the output until its end,
 * or close it after the first message.
 */
export function defineAttach<N extends Rpc, const C extends Constraints, Result>(
  rpc: N,
  constraints: C,
  handle: (
    request: RequestOf<N, C>,
    input: AttachInput,
    context: HandlerContext,
  ) => AsyncIterable<Result> | Promise<AsyncIterable<Result>>,
): RpcHandler<AsyncIterable<Result>> {
  const fields = requestFields(rpc, constraints);
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
  const handler = middyHandler(
    (event) => withBreaks(readingRequest(fields, event)),
    attach as Handle<never, AsyncIterable<Result>>,
  );
  return Object.assign(handler, { rpc, constraints });
}

/** Creates the handler of an operation that is not an rpc and has no request fields. */
export function defineWithoutRequest<Result>(handle: Handle<Record<string, never>, Result>): Handler<Result> {
  return middyHandler((event) => withBreaks(readingRequest({}, event)), handle as Handle<never, Result>);
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
