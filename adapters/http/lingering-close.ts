import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Turns } from '../../lib/turns.ts';
import { JSON_HEADERS, jsonBytes } from './answer.ts';

/** Limits for the rest of a request body after an early response. */
export interface LingerLimits {
  bytes: number;
  idleMs: number;
  totalMs: number;
}

const LINGER: LingerLimits = { bytes: 256 * 1024 * 1024, idleMs: 5000, totalMs: 30_000 };

const BYTES_PER_MS = (32 * 1024 * 1024) / 1000;
/** Longer than this no connection waits for its next bytes: the first ones of very many would hold all others until they are cut. */
const LONGEST_PAUSE_MS = 10_000;

/** Bounds the bytes that are read and discarded in a second, of all connections together. TCP holds back the others. */
export class DiscardPace {
  readonly #now: () => number;
  #due = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds after which the next bytes may be read. */
  after(bytes: number): number {
    const now = this.#now();
    this.#due = Math.min(Math.max(now, this.#due) + bytes / BYTES_PER_MS, now + LONGEST_PAUSE_MS);
    return this.#due - now;
  }
}

interface Lingering {
  req: IncomingMessage;
  res: ServerResponse;
  signal: AbortSignal;
  turns: Turns;
  /** undefined: the body is read as fast as it comes. */
  pace: DiscardPace | undefined;
}

/** Bytes up to which a body is read to its end and its connection is kept. */
const SHORT_BODY = 64 * 1024;

/** Whether the rest of the body may be longer than is worth reading to keep the connection. */
export function hasMuchToCome({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined) return true;
  return Number(headers['content-length'] ?? 0) > SHORT_BODY;
}

/**
 * Responds to a request whose body is still being sent, as RFC 9112 section 9.6 describes: the response has
 * `connection: close`, the sending side is closed, and the body is read and discarded until the client closes, too.
 * Closing a connection with unread bytes would reset it, and the reset can destroy the response before the client reads
 * it. The connection is closed when a limit is exceeded or `signal` fires. Discarding a byte costs less than storing
 * one, so a hostile client gains nothing over an accepted upload; one that repeats refused requests would, so its
 * bodies have a pace.
 */
export async function answerAndLinger(
  { req, res, signal, turns, pace }: Lingering,
  status: number,
  body: unknown,
  limits: LingerLimits = LINGER,
): Promise<void> {
  const { socket } = req;
  const read = discardRest({ req, res, signal, pace }, limits);
  const bytes = await jsonBytes(body, turns);
  if (res.destroyed) return;
  res.writeHead(status, { ...JSON_HEADERS, connection: 'close', 'content-length': bytes.length });
  // With a content length the response is complete before it is ended, which would close the connection.
  res.write(bytes, () => {
    socket.end();
    void read.then(() => socket.destroySoon());
  });
}

/** Resolves when the whole body was read. Never resolves if the connection is closed before that. */
function discardRest(
  { req, res, signal, pace }: Omit<Lingering, 'turns'>,
  { bytes, idleMs, totalMs }: LingerLimits,
): Promise<void> {
  let left = bytes;
  const cut = () => req.socket.destroy();
  const idle = setTimeout(() => (req.isPaused() ? idle.refresh() : cut()), idleMs);
  const total = setTimeout(cut, totalMs);
  let pause: NodeJS.Timeout | undefined;
  signal.addEventListener('abort', cut, { once: true });
  res.once('close', () => {
    clearTimeout(pause);
    clearTimeout(idle);
    clearTimeout(total);
    signal.removeEventListener('abort', cut);
  });
  req.on('error', () => {});
  return new Promise((resolve) => {
    req.once('end', resolve);
    req.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      idle.refresh();
      if (left < 0) return cut();
      if (pace === undefined) return;
      req.pause();
      pause = setTimeout(() => req.resume(), pace.after(chunk.length));
    });
  });
}
