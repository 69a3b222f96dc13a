import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { renderPage } from './page/render.mjs';

/** Higher ones take 20 times as long and save 3 %. */
const QUALITY = 7;

/**
 * Returns what the server serves at /openapi.json and /docs, as base64 of JSON compressed with brotli: one text, because
 * the page repeats what the document says. adapters/http/documents.ts unpacks it.
 */
export function packDocuments() {
  const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'));
  const packed = JSON.stringify({ document: JSON.stringify(document), ...renderPage(document) });
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  };
  return brotliCompressSync(packed, { params }).toString('base64');
}
