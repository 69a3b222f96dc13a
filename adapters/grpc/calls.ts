import type { EventEmitter } from 'node:events';
import { constants } from 'node:http2';
import {
  type Metadata,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { COUNTED_AS } from '../../handlers/counted-as.ts';
import type { HandlerContext, HandlerEvent, Operation } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { idempotencyKeyOf } from '../../lib/retries/idempotency-key.ts';
import type { Credentials, Services } from '../../lib/services.ts';
import type { Turns } from '../../lib/turns.ts';
import type { HeldRefusals } from '../held-refusals.ts';
import { isSameHost } from '../host-name.ts';
import { isLarge } from '../http/json-pieces.ts';
import { CallAbort, errorFor, requestIdFrom } from '../listener.ts';
import { clientNameOf } from '../tls/client-name.ts';
import { answerBytesOf, fitting } from './answer-size.ts';
import { http2StreamOf, messagesOf } from './client-stream.ts';
import { encodeLarge, sendLarge } from './large-message.ts';
import { messageWriter, type Sending } from './message-writer.ts';
import { statusOf } from './status.ts';

type Message = object;

/** Status of a call whose message was sent already: grpc-js then sends the status only. */
const SENT: Partial<StatusObject> = { code: status.OK, details: 'OK' };
type AnyCall = EventEmitter & { metadata: Metadata; getHost(): string };

export interface Mount {
  services: Services;
  log: Log;
  /** The listener's turns, for responses that are encoded in steps. */
  turns: Turns;
  /** Calls in progress. */
  calls: Set<CallAbort>;
  held: HeldRefusals;
}

/** Adapts an operation to the handler type of grpc-js for the rpc's kind: unary, or a stream of one side or both. */
export function mountCall(
  operation: Operation,
  rpc: { requestStream: boolean; responseStream: boolean; responseSerialize: (message: object) => Buffer },
  mount: Mount,
): UntypedHandleCall {
  if (rpc.requestStream && rpc.responseStream) {
    return (call: ServerDuplexStream<Message, Message>) =>
      contain(call, mount, send(operation, mount, call, { stream: messagesOf(call) }, rpc.responseSerialize));
  }
  if (rpc.requestStream) {
    return (call: ServerReadableStream<Message, Message>, callback: sendUnaryData<Message>) =>
      contain(call, mount, respond(operation, mount, call, callback, { stream: messagesOf(call) }));
  }
  if (rpc.responseStream) {
    return (call: ServerWritableStream<Message, Message>) =>
      contain(call, mount, send(operation, mount, call, { body: call.request }, rpc.responseSerialize));
  }
  return (call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) =>
    contain(call, mount, respond(operation, mount, call, callback, { body: call.request }, rpc.responseSerialize));
}

/** A response that could not even be given as an error ends its call only, not the process. */
function contain(call: AnyCall, { log }: Mount, responding: Promise<void>): void {
  responding.catch((err: unknown) => {
    http2StreamOf(call)?.close(constants.NGHTTP2_INTERNAL_ERROR);
    log.error('response could not be sent', { err });
  });
}

interface StartedCall {
  context: Omit<HandlerContext, 'guard'>;
  headers: HandlerEvent['headers'];
  /** Authenticates the call. Throws UNAUTHENTICATED, PERMISSION_DENIED, or INVALID_ARGUMENT for a malformed request. */
  admit(operation: Operation): HandlerContext;
  end(): void;
}

/** Starts a call. Its `signal` fires when the client cancels, disconnects, or its deadline passes. */
function startCall(call: AnyCall, { services, calls }: Mount): StartedCall {
  const abort = new CallAbort();
  calls.add(abort);
  const cancelled = () => {
    calls.delete(abort);
    abort.clientGone();
  };
  // grpc-js emits `cancelled` at the end of every call, including successful ones.
  call.once('cancelled', cancelled);
  const requestId = requestIdFrom(call.metadata.get('x-request-id')[0]);
  const context: StartedCall['context'] = {
    requestId,
    signal: abort.signal,
    services,
    answered: (release) => {
      if (abort.signal.aborted) release();
      else call.once('cancelled', release);
    },
  };
  let guard: HandlerContext['guard'] | undefined;
  return {
    context,
    headers: { 'content-type': 'application/grpc', 'x-request-id': requestId },
    admit(operation) {
      requireOneHost(call);
      const end = (reason: ServiceError) =>
        abort.refuse(reason, () => http2StreamOf(call)?.close(constants.NGHTTP2_CANCEL));
      const counts = COUNTED_AS[operation.operation];
      guard = services.access.admit(() => credentialsOf(call), operation.access, end, counts);
      const idempotencyKey =
        operation.retry === 'key' ? idempotencyKeyOf(call.metadata.get('idempotency-key').map(String)) : undefined;
      return { ...context, guard, idempotencyKey };
    },
    end() {
      guard?.release();
      call.off('cancelled', cancelled);
      calls.delete(abort);
    },
  };
}

function credentialsOf(call: AnyCall): Credentials {
  const valuesOf = (name: string) => call.metadata.get(name).map(String);
  return {
    authorization: valuesOf('authorization'),
    apiKey: valuesOf('x-api-key'),
    clientName: () => clientNameOf(http2StreamOf(call)?.session?.socket),
  };
}

/** A Host header of another host than `:authority` makes a request malformed (RFC 9113 section 8.3.1). */
function requireOneHost(call: AnyCall): void {
  const [host] = call.metadata.get('host');
  if (host !== undefined && !isSameHost(String(host), call.getHost()))
    throw new ServiceError('INVALID_ARGUMENT', 'the :authority and the host header must name the same host');
}

async function respond(
  operation: Operation,
  mount: Mount,
  call: ServerUnaryCall<Message, Message> | ServerReadableStream<Message, Message>,
  callback: sendUnaryData<Message>,
  input: Pick<HandlerEvent, 'body' | 'stream'>,
  serialize?: (message: object) => Buffer,
): Promise<void> {
  const { context, headers, admit, end } = startCall(call, mount);
  try {
    const admitted = admit(operation);
    if (input.body instanceof ServiceError) throw input.body;
    const limit = answerBytesOf(call.metadata);
    const answer = (body = input.body) =>
      operation.handler({ headers, ...input, body }, { ...admitted, answerBytes: limit }) as Promise<Message>;
    const result = await answer();
    if (serialize && isLarge(result)) {
      const encoded = await fitting(result, {
        again: (page_size) => answer({ ...(input.body as Message), page_size }),
        encode: (message) => encodeLarge(message, serialize, mount.turns),
        limit,
      });
      end();
      await sendLarge(call as ServerUnaryCall<Message, Message>, encoded, mount.turns);
      callback(SENT);
    } else {
      end();
      callback(null, result);
    }
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log: mount.log });
    await mount.held.hold(error, context.signal);
    end();
    callback(statusOf(error));
  }
}

async function send(
  operation: Operation,
  mount: Mount,
  call: Sending,
  input: Pick<HandlerEvent, 'body' | 'stream'>,
  serialize: (message: object) => Buffer,
): Promise<void> {
  const { context, headers, admit, end } = startCall(call, mount);
  try {
    const admitted = admit(operation);
    if (input.body instanceof ServiceError) throw input.body;
    const messages = await operation.handler({ headers, ...input }, admitted);
    const writer = messageWriter(call, context.signal, serialize);
    for await (const message of messages as AsyncIterable<Message>) {
      await writer.write(message);
      // Leaving the loop closes the iterator, which ends the production of messages.
      if (context.signal.aborted) throw context.signal.reason;
    }
    await writer.flushed();
    if (context.signal.aborted) throw context.signal.reason;
    call.end();
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log: mount.log });
    await mount.held.hold(error, context.signal);
    call.emit('error', statusOf(error));
  } finally {
    end();
  }
}
