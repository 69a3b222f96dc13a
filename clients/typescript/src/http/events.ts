import { fromWire, isObject } from '../contract/wire.ts';
import { connectionError, type ErrorBody, errorOfBody, failureOf } from './error-of.ts';
import { delay, mayRepeat, waitOf } from './retry.ts';
import type { Call, Transport } from './transport.ts';

type Message = Readonly<Record<string, unknown>>;

/**
 * The messages of a stream. One that has a cursor goes on after a lost connection, where it was: it ends with its `end`.
 * Leaving the loop closes the connection. `callOf` may throw.
 */
export async function* events(transport: Transport, callOf: () => Call): AsyncGenerator<Message, void, void> {
  const call = callOf();
  const { row, options } = call;
  const { cursor, position = '' } = row;
  if (cursor === undefined) return yield* connection(transport, call);
  let request = call.request;
  for (let failures = 0; ; failures++) {
    try {
      // Opened once each time: what is repeated is this loop.
      for await (const message of connection(transport, { ...call, request, options: { ...options, maxRetries: 0 } })) {
        failures = 0;
        yield message;
        if (message.end !== undefined) return;
        request = { ...request, [cursor]: message[position] };
      }
      throw connectionError('the answer ended early', transport.url, call.operation);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (failures >= transport.retriesOf(options) || !mayRepeat(error, { row, again: true, repeatable: true }))
        throw error;
      await delay(waitOf(error, failures), options.signal);
    }
  }
}

async function* connection(transport: Transport, call: Call): AsyncGenerator<Message, void, void> {
  const answer = await transport.open({
    ...call,
    options: { ...call.options, headers: { accept: 'application/x-ndjson', ...call.options.headers } },
  });
  const { operation, options } = call;
  try {
    for await (const line of lines(answer)) {
      const message: unknown = JSON.parse(line);
      if (!isObject(message)) throw new TypeError('a message of a stream must be an object');
      if (message.error !== undefined) throw errorOfBody(message.error as ErrorBody, { operation });
      yield fromWire(message) as Message;
    }
  } catch (thrown) {
    throw failureOf(thrown, { url: transport.url, operation, signal: options.signal });
  }
}

async function* lines({ body }: Response): AsyncGenerator<string, void, void> {
  if (body === null) return;
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const [first = '', ...others] = decoder.decode(value, { stream: !done }).split('\n');
      parts.push(first);
      for (const other of others) {
        const line = parts.splice(0).join('');
        if (line !== '') yield line;
        parts.push(other);
      }
      if (done) break;
    }
    const rest = parts.join('');
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
