import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../lib/errors.ts';
import { answer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/**
 * Milliseconds without data after which a body is given up. There is no limit for the whole body: uploads may be large,
 * and their reader may be slow.
 */
export const BODY_IDLE_MS = 60_000;

/** The request body is the file's content, or other bytes of any length; the request's fields are in path and query. */
export async function respondRaw({ req, res, operation, event, context }: Exchange<'raw'>): Promise<void> {
  const { mode, ...query } = event.queryStringParameters ?? {};
  // Of an import it is a word.
  const bits = mode === undefined || operation.operation === 'ImportCodebaseFiles' ? mode : octal(mode);
  const stored = await operation.handler(
    {
      ...event,
      queryStringParameters: bits === undefined ? query : { ...query, mode: bits },
      stream: bytesOf(req),
    },
    context,
  );
  answer(res, 200, stored);
}

/** The request body. Throws CANCELLED if the client ended it early. */
async function* bytesOf(req: IncomingMessage): AsyncGenerator<Buffer, void, void> {
  req.setTimeout(BODY_IDLE_MS);
  try {
    // Leaving the loop early must not destroy the socket: the error response still has to be sent on it.
    for await (const bytes of req.iterator({ destroyOnReturn: false })) {
      // The reader may wait for a program inside that reads its standard input much later, or never.
      req.setTimeout(0);
      yield bytes;
      req.setTimeout(BODY_IDLE_MS);
    }
  } catch {
    throw new ServiceError('CANCELLED', 'the upload was cut short');
  } finally {
    req.setTimeout(0);
    // Discards the unread rest of a refused body; otherwise it would block the next request on this connection.
    if (!req.readableEnded) req.resume();
  }
  if (!req.complete) throw new ServiceError('CANCELLED', 'the upload was cut short');
}

/** Parses octal permission bits, the usual notation in REST paths; the request message has a number. */
export function octal(text: string): string {
  if (!/^0?[0-7]{1,3}$/.test(text)) {
    throw new ServiceError('INVALID_ARGUMENT', 'mode must be octal permission bits, 0 to 0777');
  }
  return String(Number.parseInt(text, 8));
}
