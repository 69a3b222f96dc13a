import { EventEmitter, once } from 'node:events';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { expect, it, onTestFinished } from 'vitest';
import { messageWriter, type Sending } from '../../adapters/grpc/message-writer.ts';
import { protos } from '../../adapters/grpc/protos.ts';
import { giveBack, RECYCLED_BYTES, recycledBuffer, sharedView } from '../../lib/recycled-buffers.ts';

const { responseSerialize } = (protos['service.v1.SandboxService'] as ServiceDefinition).ExecStream!;

function fakeCall() {
  const stream = new PassThrough({ highWaterMark: 2 * RECYCLED_BYTES });
  const call = Object.assign(new EventEmitter(), { call: { stream }, sendMetadata: () => {} });
  return { call: call as unknown as Sending, stream };
}

const leased = () => {
  const buffer = recycledBuffer().fill(7);
  const data = sharedView(buffer, 0, buffer.length);
  giveBack(buffer);
  return { buffer, data };
};

it('a message with much data is written as grpc-js frames it, and its buffer is used again', async () => {
  const { call, stream } = fakeCall();
  const { buffer, data } = leased();
  const message = { data, stream: 'STDERR', duration_ms: 0 };
  const encoded = responseSerialize(message);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(encoded.length, 1);
  const writer = messageWriter(call, new AbortController().signal, responseSerialize);
  await writer.write(message);
  await writer.flushed();
  expect(Buffer.concat([head, encoded]).equals(stream.read())).toBe(true);
  expect(recycledBuffer().buffer).toBe(buffer.buffer);
});

it.each(['before', 'during'])('of a call that is aborted %s the write, the data is not used again', async (when) => {
  const { call, stream } = fakeCall();
  const { buffer, data } = leased();
  const abort = new AbortController();
  if (when === 'before') abort.abort();
  // The client does not read.
  stream.write(Buffer.alloc(3 * RECYCLED_BYTES));
  const writer = messageWriter(call, abort.signal, responseSerialize);
  const written = writer.write({ data, stream: 'STDOUT', duration_ms: 0 });
  abort.abort();
  await written;
  await writer.flushed();
  stream.destroy();
  await new Promise(setImmediate);
  expect(recycledBuffer().buffer).not.toBe(buffer.buffer);
});

it('data of which a part was sent when its stream is destroyed is not used again', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    settings: { initialWindowSize: 1000 },
  });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  const asked = client.request();
  asked.on('error', () => {});
  const [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
  stream.on('error', () => {});
  stream.respond();
  const call = Object.assign(new EventEmitter(), { call: { stream }, sendMetadata: () => {} }) as unknown as Sending;
  const { buffer, data } = leased();
  void messageWriter(call, new AbortController().signal, responseSerialize).write({ data, duration_ms: 0 });
  await once(asked, 'data');
  stream.destroy();
  await once(stream, 'close');
  expect(recycledBuffer().buffer).not.toBe(buffer.buffer);
});

it('one large message is taken while one is sent, and all wait for a client that does not read', async () => {
  const { call, stream } = fakeCall();
  const writer = messageWriter(call, new AbortController().signal, responseSerialize);
  const taken: string[] = [];
  const write = (name: string, bytes: number) =>
    writer.write({ data: Buffer.alloc(bytes, name), duration_ms: 0 }).then(() => void taken.push(name));
  await write('a', 3 * RECYCLED_BYTES);
  const second = write('b', 3 * RECYCLED_BYTES);
  await new Promise(setImmediate);
  expect(taken).toEqual(['a']);
  const read = stream.toArray();
  await second;
  await write('c', RECYCLED_BYTES);
  await writer.flushed();
  stream.end();
  const text = Buffer.concat(await read).toString('latin1');
  expect(text.replaceAll(/[^abc]+/g, '').replaceAll(/(.)\1+/g, '$1')).toBe('abc');
});
