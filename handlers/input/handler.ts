import type { Guard } from '../../lib/access/guard.ts';
import type { Services } from '../../lib/services.ts';

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
