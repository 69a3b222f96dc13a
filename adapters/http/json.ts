import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { HandlerEvent } from '../../handlers/index.ts';
import { ServiceError } from '../../lib/errors.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import type { Turns } from '../../lib/turns.ts';
import { Blocks } from '../received/blocks.ts';
import { completeInTime, tooSlow } from '../received/pace.ts';
import { answerAny } from './answer.ts';
import { BODY_IDLE_MS } from './body.ts';
import type { Exchange } from './exchange.ts';
import { JsonBounds } from './json-bounds.ts';
import { LONG_JSON, parsedInThread } from './long-json.ts';

/** Bytes of a body that is parsed in a turn of its own. */
const LARGE = 65_536;

export async function respondUnary(exchange: Exchange<'unary'>): Promise<void> {
  const { res, operation, context, turns, unsent } = exchange;
  await answerAny(res, 200, await operation.handler(await withJsonBody(exchange), context), turns, unsent);
}

export const METHODS_WITH_BODY: ReadonlySet<string | undefined> = new Set(['POST', 'PUT', 'PATCH']);

/** Returns the event with the text of the body, which must be JSON whatever its content type. */
export async function withJsonBody({
  req,
  event,
  turns,
  context,
  operation: { maxBody, inExecMemory },
  received,
}: Exchange): Promise<HandlerEvent> {
  if (!METHODS_WITH_BODY.has(req.method)) return event;
  const bytes = await readBody(req, { turns, signal: context.signal, limit: maxBody, received });
  if (bytes.length > LONG_JSON) {
    context.signal.throwIfAborted();
    // The input of a command counts for the memory of commands from its handler on.
    if (!inExecMemory) received?.complete();
    const body = await parsedInThread(bytes, context, inExecMemory);
    if (inExecMemory) received?.complete(true);
    return { ...event, headers: { ...event.headers, 'content-type': 'application/grpc' }, body };
  }
  // Decoding and parsing take milliseconds for a megabyte: of the bodies that arrive together, one is parsed per turn.
  if (bytes.length > LARGE) await turns.next();
  context.signal.throwIfAborted();
  received?.complete(inExecMemory);
  if (bytes.length === 0) return event;
  const body = textOf(bytes);
  return { ...event, headers: { ...event.headers, 'content-type': 'application/json' }, body };
}

interface BodyOptions {
  /** Of the listener. */
  turns: Turns;
  signal: AbortSignal;
  /** Maximum bytes. */
  limit: number;
  received: Pick<Received, 'hold'> | undefined;
}

/**
 * The bytes of a JSON body, which is complete in time, not too large and not too expensive to parse. Those of a long one are
 * for `parsedInThread`.
 */
export function readBody(req: IncomingMessage, { turns, signal, limit, received }: BodyOptions): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = new Blocks();
    const bounds = new JsonBounds();
    const end = () => {
      req.setTimeout(0);
      inTime();
      signal.removeEventListener('abort', abort);
    };
    const refuse = (error: unknown) => {
      end();
      body.drop();
      // Discards the rest of the body, so that the response arrives.
      req.removeAllListeners('data').removeAllListeners('end').resume();
      reject(error);
    };
    // For example by the revocation of its key, or because it was cut.
    const abort = () => refuse(signal.reason);
    const inTime = completeInTime(
      () => body.size,
      () => refuse(tooSlow()),
    );
    const tooLarge = () =>
      refuse(new ServiceError('INVALID_ARGUMENT', `the request body must be at most ${limit} bytes`));
    if (Number(req.headers['content-length'] ?? 0) > limit) return tooLarge();
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    req.setTimeout(BODY_IDLE_MS);
    req.on('data', (chunk: Buffer) => {
      if (body.size + chunk.length > limit) return tooLarge();
      try {
        bounds.push(chunk);
      } catch (error) {
        return refuse(error);
      }
      body.add(chunk);
      received?.hold(body.held);
      // Many large bodies at once would keep the main thread: a connection gives up to 2 MiB at a time.
      if (body.size <= LARGE) return;
      req.pause();
      void turns.next().then(() => req.resume());
    });
    req.once('end', () => {
      end();
      resolve(body.size > LONG_JSON ? body.takeShared(turns) : body.take());
    });
    req.once('error', () => refuse(new ServiceError('CANCELLED', 'the request body was cut short')));
  });
}

export function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new ServiceError('INVALID_ARGUMENT', 'the request body must be UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
