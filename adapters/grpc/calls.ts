import { constants } from 'node:http2';
import type {
  ServerDuplexStream,
  ServerReadableStream,
  ServerUnaryCall,
  ServerWritableStream,
  sendUnaryData,
  UntypedHandleCall,
} from '@grpc/grpc-js';
import type { HandlerEvent, Operation } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';
import { weightOf } from '../../lib/paging.ts';
import type { SerialQueue } from '../../lib/serial-queue.ts';
import { errorFor } from '../listener.ts';
import { isLarge } from '../message-weight.ts';
import { answerBytesOf, requireFitting } from './answer-size.ts';
import { http2StreamOf, messagesOf } from './client-stream.ts';
import { type Calls, enteredCall } from './entrance.ts';
import { encodeLarge } from './large-message.ts';
import { messageWriter, type Sending } from './message-writer.ts';
import { statusOf } from './status.ts';

type Message = object;

const MUCH_MEMORY = 4 * 1024 * 1024;

export interface Mount extends Calls {
  /** One answer of more than MUCH_MEMORY at a time is encoded: it takes twice its memory meanwhile. */
  encoding: SerialQueue;
}

/** Adapts an operation to the handler type of grpc-js for the rpc's kind: unary, or a stream of one side or both. */
export function mountCall(
  operation: Operation,
  rpc: { requestStream: boolean; responseStream: boolean; responseSerialize: (message: object) => Buffer },
  mount: Mount,
): UntypedHandleCall {
  if (rpc.requestStream && rpc.responseStream) {
    return (call: ServerDuplexStream<Message, Message>) =>
      contain(call, mount, send(operation, mount, call, { stream: inputOf(call) }, rpc.responseSerialize));
  }
  if (rpc.requestStream) {
    return (call: ServerReadableStream<Message, Message>, callback: sendUnaryData<Message>) =>
      contain(call, mount, respond(operation, mount, call, callback, { stream: inputOf(call) }));
  }
  if (rpc.responseStream) {
    return (call: ServerWritableStream<Message, Message>) =>
      contain(call, mount, send(operation, mount, call, { body: call.request }, rpc.responseSerialize));
  }
  return (call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) =>
    contain(call, mount, respond(operation, mount, call, callback, { body: call.request }, rpc.responseSerialize));
}

/** The messages of a client stream. Each counts as held until the next one is asked for. */
function inputOf(call: ServerReadableStream<Message, Message> | ServerDuplexStream<Message, Message>) {
  const entered = enteredCall(call);
  return messagesOf(call, () => entered.consumed());
}

/** A response that could not even be given as an error ends its call only, not the process. */
function contain(call: object, { log }: Mount, responding: Promise<void>): void {
  responding.catch((err: unknown) => {
    http2StreamOf(call)?.close(constants.NGHTTP2_INTERNAL_ERROR);
    log.error('response could not be sent', { err });
  });
}

async function respond(
  operation: Operation,
  mount: Mount,
  call: ServerUnaryCall<Message, Message> | ServerReadableStream<Message, Message>,
  callback: sendUnaryData<Message>,
  input: Pick<HandlerEvent, 'body' | 'stream'>,
  serialize?: (message: object) => Buffer,
): Promise<void> {
  const entered = enteredCall(call);
  const { context, headers } = entered;
  try {
    if (input.body instanceof ServiceError) throw input.body;
    const limit = answerBytesOf(call.metadata);
    entered.begin(input.stream === undefined);
    const result = (await operation.handler({ headers, ...input }, { ...context, answerBytes: limit })) as Message;
    const weight = weightOf(result);
    entered.unsent(weight);
    const encode = () => encodeLarge(result, serialize!, context.signal);
    const inTurn = () => (weight > MUCH_MEMORY ? mount.encoding.run(encode) : encode());
    const encoded = serialize && isLarge(result) ? await inTurn() : undefined;
    if (encoded) requireFitting(encoded.length, limit);
    entered.end();
    callback(null, encoded ?? result);
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log: mount.log });
    await mount.held.hold(error, context.signal);
    entered.end();
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
  const entered = enteredCall(call);
  const { context, headers } = entered;
  try {
    if (input.body instanceof ServiceError) throw input.body;
    entered.begin(input.stream === undefined);
    const messages = await operation.handler({ headers, ...input }, context);
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
    entered.end();
  }
}
