import { createHash } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';

/** A file that is the same for every caller, ready to be sent. */
interface StaticFile {
  headers: OutgoingHttpHeaders;
  plain: Buffer;
  zipped: Buffer;
}

const PATHS: ReadonlySet<string> = new Set(['/openapi.json', '/docs']);

/** Whether the path is that of the interface's documentation. */
export const isDocument = (path: string): boolean => PATHS.has(path);

export const DOCUMENT_METHODS = ['GET', 'HEAD'];

/**
 * The document of OpenAPI and its page. Both are public: they say what the released protos and gRPC reflection say, and
 * nothing of this server but its version. They are unpacked at the first request, and after a failure at the next one.
 */
let files: Promise<ReadonlyMap<string, StaticFile>> | undefined;

/** Responds to GET and HEAD of a path for which `isDocument` is true. */
export async function respondDocument(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
  files ??= unpack().catch(forget);
  const { headers, plain, zipped } = (await files).get(path)!;
  if (matches(req.headers['if-none-match'], String(headers.etag))) {
    res.writeHead(304, headers).end();
    return;
  }
  const asGzip = acceptsGzip(req.headers['accept-encoding']);
  const body = asGzip ? zipped : plain;
  res.writeHead(200, { ...headers, ...(asGzip && { 'content-encoding': 'gzip' }), 'content-length': body.length });
  if (req.method === 'HEAD') res.end();
  else res.end(body);
}

function forget(error: unknown): never {
  files = undefined;
  throw error;
}

/** Compression and decompression run in other threads. */
async function unpack(): Promise<ReadonlyMap<string, StaticFile>> {
  const bytes = await promisify(brotliDecompress)(Buffer.from(PADDOCK_DOCUMENTS, 'base64'));
  const { document, page, csp }: Record<string, string> = JSON.parse(bytes.toString());
  const ofPage = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': csp };
  return new Map([
    ['/openapi.json', await staticFile(document!, { 'content-type': 'application/json' })],
    ['/docs', await staticFile(page!, ofPage)],
  ]);
}

async function staticFile(text: string, headers: OutgoingHttpHeaders): Promise<StaticFile> {
  const plain = Buffer.from(text);
  const digest = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return {
    plain,
    zipped: await promisify(gzip)(plain),
    headers: {
      ...headers,
      // Weak: one tag for both encodings. A client asks again each time, because the next release changes them.
      etag: `W/"${digest}"`,
      'cache-control': 'no-cache',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  };
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const strong = etag.replace('W/', '');
  return ifNoneMatch?.split(',').some((each) => ['*', etag, strong].includes(each.trim())) ?? false;
}

function acceptsGzip(accepted: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(accepted ?? ''));
}
