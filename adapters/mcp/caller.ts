import { type HandlerEvent, type Operation, operations } from '../../handlers/index.ts';
import { OPEN } from '../../lib/access/guard.ts';
import type { Rpcs } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Credentials, Services } from '../../lib/services.ts';
import type { TextTools } from '../../lib/text-tools/text-tools.ts';
import type { Remote } from '../../lib/threads/thread-pool.ts';
import { withThread } from '../../lib/threads/with-thread.ts';
import type { HeldRefusals } from '../held-refusals.ts';
import { errorFor } from '../listener.ts';

type Rpc = keyof Rpcs;

/** Milliseconds of one call in another thread. Clients give up after 60 s. */
const MAX_WORK_MS = 60_000;

/** What the calls of one MCP request have in common. */
export interface CallerParts {
  services: Services;
  credentials: () => Credentials;
  /** Of the caller; empty: an admin, or no authentication. */
  ownerId: string;
  /** Aborted when the client leaves or cancels, its key is revoked, or the server closes. */
  signal: AbortSignal;
  requestId: string;
  idempotencyKey: string | undefined;
  held: HeldRefusals;
  log: Log;
}

interface CallOptions {
  /** The bytes of a client stream. */
  stream?: AsyncIterable<Uint8Array>;
  /** Ends this call alone. */
  signal?: AbortSignal;
}

const rows: ReadonlyMap<string, Operation> = new Map(operations.map((row) => [row.operation, row]));

/**
 * Calls operations of the table with the identity of one MCP request: each is admitted, limited and decided like the same
 * operation over REST, and has its texts of errors.
 */
export class Caller {
  readonly #parts: CallerParts;

  constructor(parts: CallerParts) {
    this.#parts = parts;
  }

  get signal(): AbortSignal {
    return this.#parts.signal;
  }

  get ownerId(): string {
    return this.#parts.ownerId;
  }

  /** Calls an operation whose answer is one message. */
  request<N extends Rpc>(
    operation: N,
    request: Partial<Rpcs[N]['request']>,
    options?: CallOptions,
  ): Promise<Rpcs[N]['response']> {
    return this.use(operation, request, (answer: Rpcs[N]['response']) => answer, options);
  }

  /** Calls an operation, and releases its place in the caller's limits when `use` of its result has ended. */
  async use<N extends Rpc, Result, T>(
    operation: N,
    request: Partial<Rpcs[N]['request']>,
    use: (result: Result) => T | Promise<T>,
    { stream, signal }: CallOptions = {},
  ): Promise<T> {
    const { services, credentials, requestId, log, held } = this.#parts;
    const { handler, access, retry, counts } = rows.get(operation)!;
    const ended = new AbortController();
    const all = AbortSignal.any([this.signal, ended.signal, ...(signal ? [signal] : [])]);
    try {
      // A tool that calls many operations ends with its client.
      all.throwIfAborted();
      const guard = services.access.admit(credentials, access, (reason) => ended.abort(reason), counts);
      try {
        const idempotencyKey = retry === 'key' ? this.#parts.idempotencyKey : undefined;
        const context = { requestId, signal: all, guard, services, idempotencyKey };
        return await use((await handler(eventOf(request, stream), context)) as Result);
      } finally {
        guard.release();
      }
    } catch (thrown) {
      const error = errorFor(thrown, { operation, requestId, signal: all, log });
      await held.hold(error, all);
      throw error;
    }
  }

  /** Runs `use` with a thread, which is ended in the middle of its work with this request. */
  inThread<T>(use: (tools: Remote<TextTools>) => Promise<T>, most = MAX_WORK_MS): Promise<T> {
    const late = () => new ServiceError('DEADLINE_EXCEEDED', `the call took more than ${most / 1000} s`);
    const limits = { signal: this.signal, most, late };
    return withThread(this.#parts.services.textTools.of(this.ownerId), limits, use);
  }

  /**
   * Removes what this request has started, a process or a session. Independent of the caller's rights and of its signal,
   * which may have ended: it must not outlive a cancelled request because its key was revoked.
   */
  async takeBack<N extends 'DeleteProcess' | 'DestroySession'>(operation: N, ids: Rpcs[N]['request']): Promise<void> {
    const { services, requestId, log } = this.#parts;
    const context = { requestId, signal: new AbortController().signal, guard: OPEN, services };
    try {
      await rows.get(operation)!.handler(eventOf(ids), context);
    } catch (error) {
      if (!(error instanceof ServiceError))
        log.error('what a cancelled call started could not be ended', { ...ids, err: error });
    }
  }
}

function eventOf(request: object, stream?: AsyncIterable<Uint8Array>): HandlerEvent {
  return { headers: { 'content-type': 'application/grpc' }, body: request, ...(stream && { stream }) };
}
