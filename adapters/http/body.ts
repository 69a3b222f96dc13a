import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../lib/errors.ts';
import { answer } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** A body of which nothing came for so long is given up. There is no limit on the whole: uploads may be large. */
export const BODY_IDLE_MS = 60_000;

/** PUT: the body is the file. */
export async function carryRaw({ req, res, operation, event, context }: Exchange<'raw'>): Promise<void> {
  const { mode, ...query } = event.queryStringParameters ?? {};
  const stored = await operation.handler(
    {
      ...event,
      queryStringParameters: mode === undefined ? query : { ...query, mode: octal(mode) },
      stream: bytesOf(req),
    },
    context,
  );
  answer(res, 200, stored);
}

/** The whole body, or an error when the client cut it short. */
async function* bytesOf(req: IncomingMessage): AsyncGenerator<Buffer, void, void> {
  req.setTimeout(BODY_IDLE_MS);
  try {
    // Leaving early must not destroy the socket: the refusal still has to be sent.
    yield* req.iterator({ destroyOnReturn: false });
  } catch {
    throw new ServiceError('CANCELLED', 'the upload was cut short');
  } finally {
    req.setTimeout(0);
    // What a refusal left of the body is read and dropped: else the next request of this connection waits behind it.
    if (!req.readableEnded) req.resume();
  }
  if (!req.complete) throw new ServiceError('CANCELLED', 'the upload was cut short');
}

/** REST writes permission bits as people do, in octal; the request message has a number. */
export function octal(text: string): string {
  if (!/^0?[0-7]{1,3}$/.test(text)) {
    throw new ServiceError('INVALID_ARGUMENT', 'mode must be octal permission bits, 0 to 0777');
  }
  return String(Number.parseInt(text, 8));
}
