import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { CODES, type ServiceError } from '../../lib/errors.ts';
import { isLarge, jsonPieces } from './json-pieces.ts';

export function answer(res: ServerResponse, status: number, body: unknown, headers?: OutgoingHttpHeaders): void {
  const always = { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers };
  if (isLarge(body)) {
    res.writeHead(status, always);
    answerInPieces(res, body).catch(() => res.destroy());
    return;
  }
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { ...always, 'content-length': text.length });
  res.end(text);
}

/** As fast as the client reads; others are served between two pieces. */
async function answerInPieces(res: ServerResponse, body: unknown): Promise<void> {
  for (const piece of jsonPieces(body)) {
    if (!res.write(piece)) await writable(res);
    if (res.destroyed) return;
    await setImmediate();
  }
  res.end();
}

/** Resolves when more may be written, or never will be. */
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
  return { code: CODES[error.code].grpc, message: error.message, details: error.details };
}

/** `status` where HTTP has a word of its own for it (405, 416). */
export function answerError(
  res: ServerResponse,
  error: ServiceError,
  headers?: OutgoingHttpHeaders,
  status: number = CODES[error.code].http,
): void {
  answer(res, status, errorBody(error), headers);
}
