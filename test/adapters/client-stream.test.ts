import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import {
  Client,
  credentials,
  Server,
  ServerCredentials,
  type ServerInterceptingCall,
  type ServerInterceptor,
  type ServerReadableStream,
} from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { http2StreamOf, messagesOf } from '../../adapters/grpc/client-stream.ts';
import { Inbound, type ServerCall } from '../../adapters/grpc/inbound.ts';
import { Deferred } from '../../lib/fuse/connection/deferred.ts';
import { giveBack } from '../../lib/recycled-buffers.ts';

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

it('a connection gets a wider window with its first stream of a client, once', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const windows: unknown[] = [];
  client.on('remoteSettings', ({ initialWindowSize }) => windows.push(initialWindowSize));
  const upload = async () => {
    const sent = client.request({ ':method': 'POST' });
    const [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
    const messages = messagesOf({ call: { stream }, iterator: () => [1] } as unknown as ServerReadableStream<
      number,
      object
    >);
    await messages.next();
    stream.respond();
    stream.end();
    await once(sent.resume().end(), 'close');
  };
  await upload();
  await upload();
  expect(windows).toEqual([65_535, 1 << 20]);
});

it('the memory of a large chunk is used again for later ones once it was given back', async () => {
  const chunkOf = { ...METHOD, requestDeserialize: (value: Buffer) => ({ chunk: value.subarray(2) }) };
  const interceptor: ServerInterceptor = (_, call) => {
    const options = { max: 1 << 20, single: false, paced: true, received: { hold: () => {} }, failed: () => {} };
    new Inbound(call as unknown as ServerCall, options);
    return call as ServerInterceptingCall;
  };
  const server = new Server({ interceptors: [interceptor] });
  const used: { value: number; memory: ArrayBufferLike }[] = [];
  server.addService(
    { upload: chunkOf },
    {
      async upload(call: ServerReadableStream<{ chunk: Buffer }, object>, answer: (e: null, value: Buffer) => void) {
        for await (const { chunk } of messagesOf(call)) {
          used.push({ value: chunk[0]!, memory: chunk.buffer });
          expect(chunk.equals(Buffer.alloc(200_000, chunk[0]!))).toBe(true);
          giveBack(chunk);
        }
        answer(null, Buffer.alloc(0));
      },
    },
  );
  const port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  onTestFinished(() => {
    client.close();
    server.forceShutdown();
  });
  const call = client.makeClientStreamRequest(METHOD.path, bytes.serialize, bytes.deserialize, () => {});
  for (let value = 1; value <= 20; value++) call.write(Buffer.alloc(200_002, value));
  call.end();
  await once(call, 'status');
  expect(used.map(({ value }) => value)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(
    new Set(used.map(({ memory }) => memory)).size,
    'grpc-js keeps its decoder elsewhere: mend adapters/grpc/inbound.ts',
  ).toBeLessThan(10);
});
