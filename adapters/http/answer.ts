import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { hideKeys } from '../../lib/access/key-format.ts';
import { CODES, type ServiceError } from '../../lib/errors.ts';
import type { Sender } from '../../lib/limits/fair-memory.ts';
import type { ReceivedBytes } from '../../lib/limits/received-bytes.ts';
import { weightOf } from '../../lib/paging.ts';
import type { Turns } from '../../lib/turns.ts';
import { isLarge } from '../message-weight.ts';
import { jsonPieces } from './json-pieces.ts';

/** Headers of every JSON response. */
export const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

export function answer(res: ServerResponse, status: number, body: unknown, headers?: OutgoingHttpHeaders): void {
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { ...JSON_HEADERS, 'content-length': text.length, ...headers });
  res.end(text);
}

/** Characters of an answer that costs no more than its connection. */
const SMALL = 16_384;

/** Counts the memory of a response until it was sent. One that is cut loses its connection. */
export function unsentOn(
  res: ServerResponse,
  memory: Pick<ReceivedBytes, 'unsent'>,
  sender: Sender,
): (bytes: number) => void {
  return (bytes) => {
    if (bytes <= SMALL || res.destroyed) return;
    const sent = memory.unsent(sender, bytes, () => res.destroy());
    res.once('close', sent);
  };
}

/**
 * Like `answer`, for a body of any size: a large one is encoded in pieces and sent with backpressure. `unsent` counts it until it
 * was sent; absent: its size is limited.
 */
export async function answerAny(
  res: ServerResponse,
  status: number,
  body: unknown,
  turns: Turns,
  unsent?: (bytes: number) => void,
): Promise<void> {
  unsent?.(weightOf(body));
  if (res.destroyed) return;
  if (!isLarge(body)) return answer(res, status, body);
  res.writeHead(status, JSON_HEADERS);
  const pieces = jsonPieces(body);
  for (;;) {
    await turns.next();
    const piece = pieces.next();
    if (piece.done || res.destroyed) break;
    if (!res.write(piece.value)) await writable(res);
  }
  res.end();
}

/** Encodes the body as JSON; a large one in pieces, one per turn. */
export async function jsonBytes(body: unknown, turns: Turns): Promise<Buffer> {
  if (!isLarge(body)) return Buffer.from(JSON.stringify(body));
  const pieces: Buffer[] = [];
  for (const piece of jsonPieces(body)) {
    pieces.push(Buffer.from(piece));
    await turns.next();
  }
  return Buffer.concat(pieces);
}

/** Resolves when the response accepts more data or is closed. */
export function writable(res: ServerResponse): Promise<void> {
  if (res.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}

export function errorBody(error: ServiceError): { code: number; message: string; details: readonly unknown[] } {
  return { code: CODES[error.code].grpc, message: hideKeys(error.message), details: error.details };
}

/** Sends an error. `status` overrides the code's own where HTTP has a more specific one (405, 416). */
export function answerError(
  res: ServerResponse,
  error: ServiceError,
  headers?: OutgoingHttpHeaders,
  status: number = CODES[error.code].http,
): void {
  answer(res, status, errorBody(error), headers);
}
