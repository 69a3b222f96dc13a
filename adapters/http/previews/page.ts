import { type ServerResponse, STATUS_CODES } from 'node:http';
import { CODES, type ServiceError } from '../../../lib/errors.ts';
import { NothingListens } from '../../../lib/network/ports/dialer.ts';
import { errorBody } from '../answer.ts';
import type { Incoming } from '../requests.ts';
import { BadGateway } from './exchange.ts';

/** Whether a refusal is read by a person: in a browser that opens a page. */
export function wantsPage({ req, head }: Pick<Incoming, 'req' | 'head'>): boolean {
  return head === undefined && req.method === 'GET' && /\btext\/html\b/.test(req.headers.accept ?? '');
}

/** 502: the program in the sandbox, or its absence, is the reason. */
export function statusOf(error: ServiceError): number {
  return error instanceof NothingListens || error instanceof BadGateway ? 502 : CODES[error.code].http;
}

export function answerPage(res: ServerResponse, status: number, error: ServiceError): void {
  const title = `${status} ${STATUS_CODES[status] ?? ''}`;
  const text = `<!doctype html><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${escaped(errorBody(error).message)}</p>\n`;
  res.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-length': Buffer.byteLength(text),
  });
  res.end(text);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
