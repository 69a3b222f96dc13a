import type { OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../lib/errors.ts';
import type { ReadableFile } from '../../lib/readable-file.ts';
import { answerError } from './answer.ts';
import type { Exchange } from './exchange.ts';

export async function respondDownload({
  req,
  res,
  operation,
  event,
  context,
  hasTicket,
}: Exchange<'download'>): Promise<void> {
  const { file, close } = await operation.handler(event, context);
  try {
    const headers = { ...headersOf(file), ...(hasTicket && { 'cache-control': 'no-store' }) };
    if (matches(req.headers['if-none-match'], etagOf(file))) {
      res.writeHead(304, headers).end();
      return;
    }
    const range = req.method === 'GET' ? rangeOf(req.headers, file) : undefined;
    if (range === 'unsatisfiable') {
      const error = new ServiceError('OUT_OF_RANGE', `the file has ${file.size} bytes`);
      answerError(res, error, { 'content-range': `bytes */${file.size}` }, 416);
      return;
    }
    const { start, end } = range ?? { start: 0, end: file.size };
    headers['content-length'] = end - start;
    if (range) headers['content-range'] = `bytes ${start}-${end - 1}/${file.size}`;
    res.writeHead(range ? 206 : 200, headers);
    if (req.method === 'HEAD' || start === end) {
      res.end();
      return;
    }
    const held = file.held?.({ start, end });
    // In one packet with the headers, and without the streams, which take longer than all else for a small file.
    if (held !== undefined) res.end(held);
    else await pipeline(file.read({ start, end }), res);
  } finally {
    await close();
  }
}

function headersOf(file: ReadableFile): OutgoingHttpHeaders {
  return {
    'content-type': 'application/octet-stream',
    // Prevents a browser from running a stored file as a page of this origin.
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    'cache-control': 'no-cache',
    etag: etagOf(file),
    'last-modified': new Date(file.modified_at * 1000).toUTCString(),
  };
}

function etagOf(file: ReadableFile): string {
  return `"${file.etag}"`;
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim())) ?? false;
}

/**
 * The requested range, end exclusive. Several ranges, or an invalid one, select the whole file (RFC 9110 section 14.2).
 */
function rangeOf(
  headers: { range?: string | undefined; 'if-range'?: string | string[] | undefined },
  file: ReadableFile,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))$/.exec(headers.range ?? '');
  if (!match) return undefined;
  if (headers['if-range'] !== undefined && headers['if-range'] !== etagOf(file)) return undefined;
  const [, first, last, suffix] = match;
  const start = suffix === undefined ? Number(first) : Math.max(0, file.size - Number(suffix));
  const end = last ? Math.min(Number(last) + 1, file.size) : file.size;
  if (last && Number(last) < Number(first)) return undefined;
  return start < end ? { start, end } : 'unsatisfiable';
}
