import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { HandlerEvent } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';
import { MAX_REQUEST_BYTES } from '../listener.ts';
import { answerAny } from './answer.ts';
import { BODY_IDLE_MS } from './body.ts';
import type { Exchange } from './exchange.ts';
import { JsonBounds } from './json-bounds.ts';

/** Bytes of a body that is parsed in a turn of its own. */
const LARGE = 65_536;

export async function respondUnary(exchange: Exchange<'unary'>): Promise<void> {
  const { res, operation, context, turns } = exchange;
  await answerAny(res, 200, await operation.handler(await withJsonBody(exchange), context), turns);
}

const METHODS_WITH_BODY: ReadonlySet<string | undefined> = new Set(['POST', 'PUT', 'PATCH']);

/** Returns the event with the text of the body, which must be JSON whatever its content type. */
export async function withJsonBody({ req, event, turns, context }: Exchange): Promise<HandlerEvent> {
  if (!METHODS_WITH_BODY.has(req.method)) return event;
  const bytes = await readBody(req, context.signal);
  if (bytes.length === 0) return event;
  // Decoding and parsing take milliseconds for a megabyte: of the bodies that arrive together, one is parsed per turn.
  if (bytes.length > LARGE) await turns.next();
  const body = textOf(bytes);
  return { ...event, headers: { ...event.headers, 'content-type': 'application/json' }, body };
}

/** The bytes of a JSON body, which is not too large and not too expensive to parse. */
export function readBody(req: IncomingMessage, signal: AbortSignal, limit = MAX_REQUEST_BYTES): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const bounds = new JsonBounds();
    let size = 0;
    const refuse = (error: unknown) => {
      // Discards the rest of the body, so that the response arrives.
      req.removeAllListeners('data').removeAllListeners('end').resume();
      reject(error);
    };
    const tooLarge = () =>
      refuse(new ServiceError('INVALID_ARGUMENT', `the request body must be at most ${limit} bytes`));
    if (Number(req.headers['content-length'] ?? 0) > limit) return tooLarge();
    req.setTimeout(BODY_IDLE_MS);
    // For example by the revocation of its key.
    signal.addEventListener('abort', () => refuse(signal.reason), { once: true });
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return tooLarge();
      chunks.push(chunk);
      try {
        bounds.push(chunk);
      } catch (error) {
        refuse(error);
      }
    });
    req.once('end', () => {
      req.setTimeout(0);
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    });
    req.once('error', () => reject(new ServiceError('CANCELLED', 'the request body was cut short')));
  });
}

export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ServiceError('INVALID_ARGUMENT', 'the request body must be UTF-8');
  return bytes.toString('utf8');
}
