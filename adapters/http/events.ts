import type { ServerResponse } from 'node:http';
import type { Cursor, HandlerEvent } from '../../handlers/index.ts';
import { giveBack } from '../../lib/recycled-buffers.ts';
import { errorFor } from '../listener.ts';
import { errorBody, writable } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { withJsonBody } from './json.ts';
import { writeOctets } from './octets.ts';

interface Framing {
  contentType: string;
  /** Returns false if the client should be waited for. `id`: the position after the message, from which a client can go on. */
  write(res: ServerResponse, message: object, id?: unknown): boolean;
}

const NDJSON: Framing = {
  contentType: 'application/x-ndjson',
  write: (res, message) => writeJson(res, '', message, '\n'),
};
const SSE: Framing = {
  contentType: 'text/event-stream',
  write: (res, message, id) => {
    if ('keepalive' in message && message.keepalive === true) return res.write(': keepalive\n\n', 'latin1');
    return writeJson(res, id === undefined ? 'data: ' : `id: ${id}\ndata: `, message, '\n\n');
  },
};
const OCTETS: Framing = {
  contentType: 'application/octet-stream',
  write: (res, message) => {
    const { data = NOTHING, ...fields } = message as { data?: Uint8Array };
    return writeOctets(res, JSON.stringify(fields), data);
  },
};

const NOTHING = new Uint8Array(0);

/**
 * After the position in the id of the last message. Output can end at the same position, and a client that lost the last
 * message must get it.
 */
const ENDED = '-end';

/**
 * Responds with a stream of messages, each sent as soon as it exists. An error before the first message is sent as a
 * status; a later error is the last message, `{"error": …}`. A message whose field `keepalive` is true has no other
 * content; as a server-sent event it is a comment.
 */
export async function respondEvents(exchange: Exchange<'events'>): Promise<void> {
  const { req, res, operation, context, log } = exchange;
  const event = await withJsonBody(exchange);
  const last = operation.cursor && lastEventId(event);
  const messages = await operation.handler(resumed(event, operation.cursor, last), context);
  if (last?.endsWith(ENDED)) {
    await messages[Symbol.asyncIterator]().return?.();
    res.writeHead(204).end();
    return;
  }
  const framing = [SSE, OCTETS].find(({ contentType }) => req.headers.accept?.includes(contentType)) ?? NDJSON;
  res.writeHead(200, { 'content-type': framing.contentType, 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
  res.flushHeaders();
  try {
    for await (const message of messages) {
      const id = operation.cursor && eventId(message as Record<string, unknown>, operation.cursor);
      if (!framing.write(res, message, id)) await writable(res);
      // Leaving the loop closes the iterator, which kills the command.
      if (res.destroyed) return;
    }
  } catch (thrown) {
    const error = errorFor(thrown, { ...context, operation: operation.operation, log });
    framing.write(res, { error: errorBody(error) });
  }
  res.end();
}

/**
 * Starts where the last event ended that the client has, as a browser's EventSource says after a lost connection. The
 * URL is that of the first request, so the header takes precedence over the query.
 */
function resumed(event: HandlerEvent, cursor: Cursor | undefined, last: string | undefined): HandlerEvent {
  if (cursor === undefined || last === undefined) return event;
  const position = last.endsWith(ENDED) ? last.slice(0, -ENDED.length) : last;
  return { ...event, queryStringParameters: { ...event.queryStringParameters, [cursor.from]: position } };
}

function lastEventId({ headers }: HandlerEvent): string | undefined {
  const last = headers['last-event-id'];
  return typeof last === 'string' && last !== '' ? last : undefined;
}

const eventId = (message: Record<string, unknown>, { id, end }: Cursor): string =>
  `${message[id]}${message[end] === undefined ? '' : ENDED}`;

/** Bytes that are encoded in one string, a multiple of 3: V8 collects the whole heap for a few of more than 128 KiB. */
const ENCODED_BYTES = 49_152;
const ASCII = /^[\n\x20-\x7e]*$/;

/**
 * Writes a message as proto3 JSON between two texts: bytes as base64, which needs no escaping. 'latin1' for what is ASCII avoids
 * computing its UTF-8 length, the most expensive step.
 */
function writeJson(res: ServerResponse, before: string, message: object, after: string): boolean {
  const { data, ...others } = message as { data?: Uint8Array };
  let end = `${JSON.stringify(others)}${after}`;
  if (data === undefined) return res.write(`${before}${end}`, 'utf8');
  end = `"${end[1] === '}' ? '' : ','}${end.slice(1)}`;
  const { buffer, byteOffset, byteLength } = data;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  let text = `${before}{"data":"`;
  let at = 0;
  // Not corked: after that, later releases of Node tell nothing when the client has read.
  for (; byteLength - at > ENCODED_BYTES; at += ENCODED_BYTES) {
    res.write(`${text}${bytes.toString('base64', at, at + ENCODED_BYTES)}`, 'latin1');
    text = '';
  }
  const last = `${text}${bytes.toString('base64', at)}${end}`;
  giveBack(data);
  return res.write(last, ASCII.test(end) ? 'latin1' : 'utf8');
}
