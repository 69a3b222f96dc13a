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
  write: (res, message) => {
    return writeText(res, '', toJson(message), '\n');
  },
};
const SSE: Framing = {
  contentType: 'text/event-stream',
  write: (res, message, id) => {
    if ('keepalive' in message && message.keepalive === true) return res.write(': keepalive\n\n', 'latin1');
    return writeText(res, id === undefined ? 'data: ' : `id: ${id}\ndata: `, toJson(message), '\n\n');
  },
};
const OCTETS: Framing = {
  contentType: 'application/octet-stream',
  write: (res, message) => {
    const { data = NOTHING, ...fields } = message as { data?: Uint8Array };
    return writeOctets(res, toJson(fields).texts.join(''), data);
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

interface Encoded {
  /** To be written one after the other. */
  texts: readonly string[];
  encoding: 'latin1' | 'utf8';
}

const eventId = (message: Record<string, unknown>, { id, end }: Cursor): string =>
  `${message[id]}${message[end] === undefined ? '' : ENDED}`;

/** Bytes that are encoded in one string, a multiple of 3: V8 collects the whole heap for a few of more than 128 KiB. */
const ENCODED_BYTES = 49_152;

function writeText(res: ServerResponse, before: string, { texts, encoding }: Encoded, after: string): boolean {
  if (texts.length === 1) return res.write(`${before}${texts[0]}${after}`, encoding);
  // Not corked: after that, later releases of Node tell nothing when the client has read.
  res.write(before, encoding);
  for (const text of texts) res.write(text, encoding);
  return res.write(after, encoding);
}

const ASCII = /^[\x20-\x7e]*$/;

/**
 * Encodes a message as proto3 JSON: bytes as base64, which needs no escaping. If the other fields are ASCII, the whole
 * text is, and 'latin1' avoids computing its UTF-8 length, the most expensive step.
 */
function toJson(message: object): Encoded {
  let encoding: 'latin1' | 'utf8' = 'latin1';
  // Appended, not joined: the text is copied once, when it is written.
  let text = '';
  const texts: string[] = [];
  for (const [name, value] of Object.entries(message) as [string, unknown][]) {
    const before = `${text === '' && texts.length === 0 ? '{' : ','}"${name}":`;
    if (value instanceof Uint8Array) {
      text += `${before}"`;
      let at = 0;
      for (; value.length - at > ENCODED_BYTES; at += ENCODED_BYTES) {
        texts.push(`${text}${base64(value.subarray(at, at + ENCODED_BYTES))}`);
        text = '';
      }
      text += `${base64(value.subarray(at))}"`;
      giveBack(value);
      continue;
    }
    const json = JSON.stringify(value);
    if (json === undefined) continue;
    if (!ASCII.test(json)) encoding = 'utf8';
    text += `${before}${json}`;
  }
  texts.push(text === '' && texts.length === 0 ? '{}' : `${text}}`);
  return { texts, encoding };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
