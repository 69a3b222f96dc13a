import { constants } from 'node:http2';
import type { ServerInterceptingCall, ServerInterceptor } from '@grpc/grpc-js';
import { type HandlerContext, type HandlerEvent, type Operation, PLAIN_BODY } from '../../handlers/index.ts';
import { OPEN } from '../../lib/access/guard.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Sender } from '../../lib/limits/fair-memory.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import type { Log } from '../../lib/log.ts';
import { idempotencyKeyOf } from '../../lib/retries/idempotency-key.ts';
import type { Credentials, Services } from '../../lib/services.ts';
import type { HeldRefusals } from '../held-refusals.ts';
import { isSameHost } from '../host-name.ts';
import { CallAbort, errorFor, requestIdFrom } from '../listener.ts';
import { clientNameOf } from '../tls/client-name.ts';
import { Inbound, type ServerCall } from './inbound.ts';
import { statusOf } from './status.ts';

/** What a call that needs no key costs until it is closed. The threat: calls of health and reflection that never end. */
const OPEN_CALL = 131_072;
/** What an answer costs beyond its bytes while it is not sent: its stream. */
const ANSWER_COST = 16_384;
/** Milliseconds for a client to end a call that was refused before its request was complete. */
const CLOSE_MS = 200;

export interface Calls {
  services: Services;
  log: Log;
  /** Calls in progress. */
  calls: Set<CallAbort>;
  /** Requests that are being received. */
  arriving: Set<Inbound>;
  held: HeldRefusals;
}

const entered = new WeakMap<object, EnteredCall>();

/**
 * Returns what every call passes before grpc-js reads anything of its request: its caller is authenticated by the metadata,
 * and what arrives then is bounded. `operationOf`: undefined for methods that everybody may call (health, reflection).
 */
export function entrance(calls: Calls, operationOf: (path: string) => Operation | undefined): ServerInterceptor {
  return ({ path, requestStream }, given) => {
    const call = given as unknown as ServerCall;
    entered.set(call, new EnteredCall(call, { operation: operationOf(path), requestStream }, calls));
    return given as ServerInterceptingCall;
  };
}

/** The call of a handler of grpc-js. */
export function enteredCall(call: object): EnteredCall {
  return entered.get((call as { call: object }).call)!;
}

/** A call whose caller may call its operation. Its signal fires when the client cancels, disconnects, or its deadline passes. */
class EnteredCall {
  readonly headers: HandlerEvent['headers'];
  readonly requestId: string;
  readonly #call: ServerCall;
  readonly #calls: Calls;
  readonly #operation: Operation | undefined;
  readonly #requestStream: boolean;
  readonly #abort = new CallAbort();
  readonly #releases: (() => void)[] = [];
  #context: HandlerContext | undefined;
  #inbound: Inbound | undefined;
  #received: Received | undefined;
  #begun = false;
  #refused = false;
  #ended = false;
  #cancelled = false;

  constructor(
    call: ServerCall,
    { operation, requestStream }: { operation: Operation | undefined; requestStream: boolean },
    calls: Calls,
  ) {
    this.#call = call;
    this.#calls = calls;
    this.#operation = operation;
    this.#requestStream = requestStream;
    this.requestId = requestIdFrom(call.metadata.get('x-request-id')[0]);
    this.headers = { 'content-type': 'application/grpc', 'x-request-id': this.requestId };
    this.#follow(operation !== undefined);
    // grpc-js tells nothing to a call whose stream is closed before it starts.
    call.stream.once('close', () => this.#leave());
    try {
      if (operation === undefined) this.unsent(OPEN_CALL);
      else this.#context = this.#admit(operation);
      this.#receive();
    } catch (thrown) {
      this.#refuse(thrown);
    }
  }

  get context(): HandlerContext {
    return this.#context!;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The handler begins. A request of one message is complete then, and is not cut any more. */
  begin(isComplete: boolean): void {
    this.#begun = true;
    if (!isComplete) return;
    if (this.#inbound) this.#calls.arriving.delete(this.#inbound);
    this.#received?.complete(this.#operation?.inExecMemory);
  }

  /** The message that was read first is not needed any more. */
  consumed(): void {
    this.#inbound?.consumed();
  }

  /** The call is answered, with so many bytes, which are held until its stream is closed. */
  unsent(bytes: number): void {
    const { stream } = this.#call;
    const sent = this.#calls.services.received.unsent(this.#sender, ANSWER_COST + bytes, () => this.#close());
    if (stream.closed) sent();
    else stream.once('close', sent);
  }

  get #sender(): Sender {
    const { key_id: key, owner_id: owner } = this.#context?.guard.principal ?? OPEN.principal;
    const { stream } = this.#call;
    return { owner, key, connection: stream.session ?? stream };
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#context?.guard.release();
    this.#received?.end();
    if (this.#inbound) this.#calls.arriving.delete(this.#inbound);
    this.#calls.calls.delete(this.#abort);
  }

  /** grpc-js tells nothing to a call that is not started, which is one that was refused before. */
  #follow(isOperation: boolean): void {
    const start = this.#call.start.bind(this.#call);
    this.#call.start = (listener) => {
      if (this.#refused) return;
      start({
        onReceiveMetadata: (metadata) => listener.onReceiveMetadata(metadata),
        onReceiveMessage: (message) => {
          if (this.#refused) return;
          this.#inbound?.delivered();
          listener.onReceiveMessage(message);
        },
        onReceiveHalfClose: () => {
          if (this.#refused) return;
          // Of health: it has no handler here that begins.
          if (this.#operation === undefined && !this.#requestStream) this.begin(true);
          listener.onReceiveHalfClose();
        },
        // At the end of every call, including successful ones.
        onCancel: () => {
          this.#leave();
          listener.onCancel();
        },
      });
    };
    if (isOperation) this.#calls.calls.add(this.#abort);
    // For example by the revocation of its key, or the end of the server.
    this.signal.addEventListener('abort', () => this.#begun || this.#refuse(this.signal.reason), { once: true });
  }

  #admit(operation: Operation): HandlerContext {
    const { metadata, stream } = this.#call;
    requireOneHost(this.#call);
    const { services } = this.#calls;
    const end = (reason: ServiceError) => this.#abort.refuse(reason, () => stream.close(constants.NGHTTP2_CANCEL));
    const guard = services.access.admit(() => credentialsOf(this.#call), operation.access, end, operation.counts);
    const context = { requestId: this.requestId, signal: this.signal, services, guard, answered: this.#answered };
    this.#context = context;
    const idempotencyKey =
      operation.retry === 'key' ? idempotencyKeyOf(metadata.get('idempotency-key').map(String)) : undefined;
    return { ...context, idempotencyKey };
  }

  #receive(): void {
    const failed = (reason: ServiceError) => this.#stop(reason);
    const received = this.#calls.services.received.begin(this.#sender, failed);
    this.#received = received;
    this.#inbound = new Inbound(this.#call, {
      max: this.#operation?.maxBody ?? PLAIN_BODY,
      single: !this.#requestStream,
      paced: this.#requestStream,
      received,
      failed,
    });
    if (this.#refused) this.#inbound.stop();
    else this.#calls.arriving.add(this.#inbound);
  }

  readonly #answered = (release: () => void): void => {
    if (this.#cancelled || this.signal.aborted) release();
    else this.#releases.push(release);
  };

  /** Ends a call whose request must not go on. */
  #stop(reason: ServiceError): void {
    this.#inbound?.stop();
    if (!this.#begun) this.#refuse(reason);
    else if (this.#operation) this.#abort.refuse(reason, () => this.#close());
    else this.#call.sendStatus(statusOf(reason));
  }

  /** Answers a call before its handler has begun. What else arrives is dropped. */
  #refuse(thrown: unknown): void {
    if (this.#refused || this.#cancelled) return;
    this.#refused = true;
    if (this.#inbound) this.#inbound.stop();
    else drop(this.#call);
    const { log, held } = this.#calls;
    const operation = this.#operation?.operation ?? 'unknown';
    const error = errorFor(thrown, { operation, requestId: this.requestId, signal: this.signal, log });
    const { stream } = this.#call;
    stream.once('close', () => this.#leave());
    void held.hold(error, this.signal).then(() => {
      this.#call.sendStatus(statusOf(error));
      this.end();
      const timer = setTimeout(() => this.#close(), CLOSE_MS);
      timer.unref();
      stream.once('close', () => clearTimeout(timer));
    });
  }

  #close(): void {
    this.#call.stream.close(constants.NGHTTP2_CANCEL);
  }

  #leave(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#inbound?.stop();
    if (!this.#ended) {
      this.#calls.calls.delete(this.#abort);
      this.#abort.clientGone();
    }
    for (const release of this.#releases.splice(0)) release();
    if (!this.#begun || this.#operation === undefined) this.end();
  }
}

/** Of a call that was refused by its metadata. */
function drop(call: ServerCall): void {
  call.decoder = { write: () => [] };
  call.stream.resume();
}

function credentialsOf(call: ServerCall): Credentials {
  const valuesOf = (name: string) => call.metadata.get(name).map(String);
  return {
    authorization: valuesOf('authorization'),
    apiKey: valuesOf('x-api-key'),
    clientName: () => clientNameOf(call.stream.session?.socket),
  };
}

/** A Host header of another host than `:authority` makes a request malformed (RFC 9113 section 8.3.1). */
function requireOneHost(call: ServerCall): void {
  const [host] = call.metadata.get('host');
  if (host !== undefined && !isSameHost(String(host), call.getHost()))
    throw new ServiceError('INVALID_ARGUMENT', 'the :authority and the host header must name the same host');
}
