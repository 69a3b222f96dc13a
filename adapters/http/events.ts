import { errorFor } from '../listener.ts';
import { errorBody, writable } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { withJsonBody } from './json.ts';

interface Framing {
  contentType: string;
  frame(json: string): string;
}

const NDJSON: Framing = { contentType: 'application/x-ndjson', frame: (json) => `${json}\n` };
const SSE: Framing = { contentType: 'text/event-stream', frame: (json) => `data: ${json}\n\n` };

/**
 * Responds with a stream of messages, each sent as soon as it exists. An error before the first message is sent as a
 * status; a later error is the last message, `{"error": …}`.
 */
export async function respondEvents(exchange: Exchange<'events'>): Promise<void> {
  const { req, res, operation, context, log } = exchange;
  const messages = await operation.handler(await withJsonBody(exchange), context);
  const { contentType, frame } = req.headers.accept?.includes('text/event-stream') ? SSE : NDJSON;
  res.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
  res.flushHeaders();
  try {
    for await (const message of messages) {
      const { json, encoding } = toJson(message);
      if (!res.write(frame(json), encoding)) await writable(res);
      // Leaving the loop closes the iterator, which kills the command.
      if (res.destroyed) return;
    }
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log });
    res.write(frame(JSON.stringify({ error: errorBody(error) })));
  }
  res.end();
}

const ASCII = /^[\x20-\x7e]*$/;

/**
 * Encodes a message as proto3 JSON: bytes as base64, which needs no escaping. If the other fields are ASCII, the whole
 * text is, and 'latin1' avoids computing its UTF-8 length, the most expensive step.
 */
function toJson(message: object): { json: string; encoding: 'latin1' | 'utf8' } {
  let encoding: 'latin1' | 'utf8' = 'latin1';
  const fields = Object.entries(message).flatMap(([name, value]: [string, unknown]) => {
    if (value instanceof Uint8Array) return [`"${name}":"${base64(value)}"`];
    const json = JSON.stringify(value);
    if (json === undefined) return [];
    if (!ASCII.test(json)) encoding = 'utf8';
    return [`"${name}":${json}`];
  });
  return { json: `{${fields.join(',')}}`, encoding };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
