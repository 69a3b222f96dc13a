import type { Need } from '../lib/access/need.ts';
import { rpcs } from '../lib/contract/schema.ts';
import type { Count } from '../lib/limits/limits.ts';
import type { Constraints } from './input/constraints.ts';
import type { Download } from './input/download.ts';
import type { Export } from './input/export.ts';
import type { Handler } from './input/handler.ts';
import type { MergePatch } from './input/merge-patch.ts';
import type { Rpc } from './input/request-fields.ts';

/** Bytes of a request that is one message, unless its operation says otherwise. */
export const PLAIN_BODY = 64 * 1024;
/** For lists of paths, rules, variables or arguments, and for labels. */
export const LISTS = 8 * 1024 * 1024;
/** For the content of files and the input of programs. */
export const CONTENT = 64 * 1024 * 1024;

/**
 * What happens if a call is repeated, for example because its answer was lost. `read`: nothing changes; `same`: nothing
 * more than by the first call, although it may be refused, like the removal of what is removed; `again`: it takes effect
 * again; `key`: it takes effect again, unless both calls have the same `Idempotency-Key`. Operations that commit, or
 * create a sandbox, codebase, checkpoint or key, must have `key`, and a row in `lib/retries/interrupted.ts`.
 */
type Retry = 'read' | 'same' | 'again' | 'key';

/** How a client goes on with a stream of messages that it has lost. */
export interface Cursor {
  /** Field of the request: the position to start at. A `Last-Event-ID` header sets it. */
  from: string;
  /** Field of each message: the position after it, sent as the `id` of server-sent events. */
  id: string;
  /** Field that only the last message has. A client that has it, and asks again, gets 204: an EventSource would for ever. */
  end: string;
}

/**
 * The REST form: `unary`: JSON in, JSON out; `events`: JSON in, a stream of messages out; `raw`: the body is a file;
 * `multipart`: the body contains files; `download`: the response is a file; `bytes`: the response is a stream of bytes;
 * `attach`: a WebSocket. gRPC uses the form in the proto.
 */
export interface Results {
  unary: unknown;
  raw: unknown;
  multipart: unknown;
  attach: AsyncIterable<object>;
  events: AsyncIterable<object>;
  download: Download;
  bytes: Export;
}
export type Kind = keyof Results;

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * An example of a request over REST. `$SANDBOX` and the like are variables of the shell, which the text of /docs tells how
 * to set. `path`: parameters of the path that have no variable; `file`: the body, a file in the present directory; `form`:
 * the fields of a form; `curl`: further arguments.
 */
export interface Example {
  path?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, string | number | boolean>>;
  body?: object;
  file?: string;
  form?: Readonly<Record<string, string>>;
  curl?: string;
}

/**
 * `GET /v1/secrets/{name}`: `{name}` matches one segment, for the request field of that name; `{name+}` matches the rest of
 * the path. With `?format` at the end it matches only requests with this query parameter, and then precedes the same path
 * without it.
 */
interface Route {
  route: `${Method} /${string}`;
  example?: Example;
}

/** Everything that is known of an operation beside its messages and what its handler does. */
export interface Declaration<N extends string = Rpc | 'Health', C extends Constraints = Constraints, K = Kind>
  extends Route {
  /** Health has its own gRPC service. */
  rpc: N;
  /** Absent: `unary`. */
  kind?: K;
  /** Further routes. The clients and gRPC use the first one. */
  also?: readonly (Route & { kind: Kind })[];
  cursor?: Cursor;
  /** What the operation needs from its caller. It is checked before the handler runs. */
  access: Need;
  retry: Retry;
  /**
   * What a call counts as for the limits of keys and owners, in addition to one request. Operations that transfer content of
   * any length are streams.
   */
  counts?: readonly Count[];
  /**
   * Maximum bytes of the JSON body, and of one gRPC message, decompressed. It is needed where the constraints permit more
   * than 64 KiB. Content that REST carries as a raw body or as a form has no such limit.
   */
  maxBody?: number;
  /** The input counts for `limits.exec_memory_bytes` while the operation runs. */
  inExecMemory?: true;
  /** False: a call does not keep its sandbox from being idle, for those who would watch it for ever. */
  isUse?: false;
  /** On the fields of the request, beyond their types. */
  constraints?: C;
  /** Present if the JSON body is a merge patch. */
  patch?: MergePatch;
}

/** A handler, which is its declaration as well. */
export type DeclaredHandler<Result = unknown> = Handler<Result> & Declaration & { constraints: Constraints };

/** One route of an operation, as the adapters mount it. */
export type Operation = {
  operation: Rpc | 'Health';
  method: Method;
  path: string;
  query?: string;
  access: Need;
  retry: Retry;
  counts: readonly Count[];
  maxBody: number;
  inExecMemory: boolean;
  example: Example;
} & {
  [K in Kind]: { kind: K; cursor?: Cursor | undefined; handler: Handler<Results[K]> };
}[Kind];

/** The table of all routes, in the order of the rpcs in the contract. gRPC uses the first of several rows of an rpc. */
export function tableOf(handlers: readonly DeclaredHandler[]): readonly Operation[] {
  const order: string[] = Object.keys(rpcs);
  const place = ({ rpc }: DeclaredHandler) => (rpc === 'Health' ? order.length : order.indexOf(rpc));
  return handlers.toSorted((a, b) => place(a) - place(b)).flatMap(rowsOf);
}

function rowsOf(handler: DeclaredHandler): Operation[] {
  const { rpc: operation, route, kind = 'unary', example = {}, also = [], access, retry, cursor } = handler;
  const { counts = [], maxBody = PLAIN_BODY, inExecMemory = false } = handler;
  const shared = { operation, access, retry, counts, maxBody, inExecMemory, cursor, handler };
  return [{ route, kind, example }, ...also].map(({ route, kind, example: own = example }) => {
    const [, method, path, query] = /^(\w+) ([^?]+)(?:\?(\w+))?$/.exec(route) ?? [];
    return { ...shared, kind, example: own, method, path, ...(query && { query }) } as Operation;
  });
}
