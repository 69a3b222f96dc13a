import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Client, credentials, Server, ServerCredentials, type ServerReadableStream } from '@grpc/grpc-js';
import { expect, it } from 'vitest';
import { http2StreamOf } from '../../adapters/grpc/client-stream.ts';
import { Deferred } from '../../lib/fuse/connection/deferred.ts';

const bytes = { serialize: (value: Buffer) => value, deserialize: (value: Buffer) => value };
const METHOD = {
  path: '/test.Test/Upload',
  requestStream: true,
  responseStream: false,
  requestSerialize: bytes.serialize,
  requestDeserialize: bytes.deserialize,
  responseSerialize: bytes.serialize,
  responseDeserialize: bytes.deserialize,
};

it('grpc-js stores the HTTP/2 stream of a server call in the private field that the adapter reads', async () => {
  const found = new Deferred<unknown>();
  const server = new Server();
  server.addService(
    { upload: METHOD },
    {
      upload(call: ServerReadableStream<Buffer, object>, answer: (error: null, value: Buffer) => void) {
        found.resolve(typeof http2StreamOf(call)?.session?.ping);
        call.resume().once('end', () => answer(null, Buffer.alloc(0)));
      },
    },
  );
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    const call = client.makeClientStreamRequest(METHOD.path, bytes.serialize, bytes.deserialize, () => {});
    call.end();
    const { version } = JSON.parse(
      readFileSync(new URL('../../node_modules/@grpc/grpc-js/package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    expect(
      await found.promise,
      `@grpc/grpc-js ${version} keeps the HTTP/2 stream of a call elsewhere: mend http2StreamOf in ` +
        'adapters/grpc/client-stream.ts, or half of an upload that its client cancels is stored as a whole file',
    ).toBe('function');
    await once(call, 'status');
  } finally {
    client.close();
    server.forceShutdown();
  }
});

it('package.json allows only patch releases of grpc-js, because the adapter reads its private field', () => {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(dependencies['@grpc/grpc-js']).toMatch(/^~/);
});
