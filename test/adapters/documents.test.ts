import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { respondDocument } from '../../adapters/http/documents.ts';

/** The status of the response to a request of the document. */
async function statusOf(packed: string): Promise<number | undefined> {
  vi.stubGlobal('PADDOCK_DOCUMENTS', packed);
  onTestFinished(() => void vi.unstubAllGlobals());
  let status: number | undefined;
  const response = {
    writeHead(code: number) {
      status = code;
      return this;
    },
    end() {},
  };
  const request = { method: 'GET', headers: {} } as unknown as IncomingMessage;
  await respondDocument(request, response as unknown as ServerResponse, '/openapi.json');
  return status;
}

it('a failure to unpack the documents is not kept', async () => {
  await expect(statusOf('')).rejects.toThrow();
  const documents = JSON.stringify({ document: '{}', page: '<p>', csp: "default-src 'none'" });
  expect(await statusOf(brotliCompressSync(documents).toString('base64'))).toBe(200);
});
