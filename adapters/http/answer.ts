import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CODES, type ServiceError } from '../../lib/errors.ts';

export function answer(res: ServerResponse, status: number, body: unknown, headers?: OutgoingHttpHeaders): void {
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': text.length,
    'cache-control': 'no-store',
    ...headers,
  });
  res.end(text);
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
