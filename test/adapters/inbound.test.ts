import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { deflateSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Inbound, type ServerCall } from '../../adapters/grpc/inbound.ts';
import type { ServiceError } from '../../lib/errors.ts';

function framed(content: Buffer, flag = 0): Buffer {
  const frame = Buffer.alloc(5);
  frame[0] = flag;
  frame.writeUInt32BE(content.length, 1);
  return Buffer.concat([frame, content]);
}

function begin({ single = true, max = 1 << 20 } = {}) {
  const stream = new PassThrough();
  const call = { stream, startRead: () => {} } as unknown as ServerCall;
  const seen = { held: 0, most: 0, failed: [] as string[], now: 0 };
  const inbound = new Inbound(call, {
    max,
    single,
    paced: !single,
    received: {
      hold: (bytes) => {
        seen.held = bytes;
        seen.most = Math.max(seen.most, bytes);
      },
    },
    failed: (reason: ServiceError) => {
      seen.failed.push(`${reason.code} ${reason.message}`);
      inbound.stop();
    },
    now: () => seen.now,
  });
  return { stream, call, inbound, seen };
}

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
] as const)('a message is decompressed: %s', async (encoding, compress) => {
  const { call, seen } = begin();
  const content = Buffer.alloc(200_000, 'content ');
  const [message] = call.decoder.write(framed(compress(content), 1));
  expect((await call.decompressMessage(message!, encoding)).equals(content)).toBe(true);
  expect(seen.held).toBeGreaterThanOrEqual(content.length);
});

it('a message counts once while it is decompressed: what was read of it is given back', async () => {
  const { call, seen } = begin({ max: 8 << 20 });
  const content = randomBytes(4 << 20);
  const [message] = call.decoder.write(framed(gzipSync(content, { level: 1 }), 1));
  expect(message).toHaveLength(5);
  expect(seen.held).toBeGreaterThanOrEqual(content.length);
  expect((await call.decompressMessage(message!, 'gzip')).equals(content)).toBe(true);
  expect(seen.most).toBeLessThan(content.length + 400_000);
});

it('a call that is stopped in the middle of its decompression keeps nothing', async () => {
  const { call, inbound, seen } = begin({ max: 8 << 20 });
  const [message] = call.decoder.write(framed(gzipSync(randomBytes(4 << 20), { level: 1 }), 1));
  const answer = call.decompressMessage(message!, 'gzip') as Promise<Buffer>;
  setImmediate(() => inbound.stop());
  await expect(answer).rejects.toMatchObject({ code: 1 });
  expect(seen.failed).toEqual([]);
});

it('what follows the compressed content is left out', async () => {
  const { call } = begin();
  const content = Buffer.concat([deflateSync(Buffer.from('content')), Buffer.alloc(200_000)]);
  const [message] = call.decoder.write(framed(content, 1));
  expect(String(await call.decompressMessage(message!, 'deflate'))).toBe('content');
});

it.each([
  [
    'too long when it is decompressed',
    gzipSync(Buffer.alloc(2 << 20)),
    'gzip',
    3,
    'a message must have at most 1048576 bytes',
  ],
  ['no gzip', Buffer.from('no gzip'), 'gzip', 3, 'a message must be valid gzip'],
  ['of an unknown encoding', Buffer.from('x'), 'br', 12, 'grpc-encoding must be gzip, deflate or identity'],
])('a message is refused that is %s', async (_, content, encoding, code, details) => {
  const { call } = begin();
  const [message] = call.decoder.write(framed(content, 1));
  await expect(call.decompressMessage(message!, encoding)).rejects.toMatchObject({ code, details });
});

it('a message is refused by its announced length, and nothing of it is kept', () => {
  const { call, seen } = begin({ max: 100 });
  expect(call.decoder.write(framed(Buffer.alloc(101)))).toEqual([]);
  expect(seen.failed).toEqual(['INVALID_ARGUMENT a message must have at most 100 bytes']);
  expect(call.decoder.write(Buffer.alloc(100_000))).toEqual([]);
  expect(seen.held).toBe(0);
});

it('what has arrived counts before its message is complete, and until it is consumed', () => {
  const { call, inbound, seen } = begin({ single: false });
  const message = framed(Buffer.alloc(100_000));
  call.decoder.write(message.subarray(0, 90_000));
  expect(seen.held).toBeGreaterThanOrEqual(89_000);
  call.decoder.write(message.subarray(90_000));
  inbound.delivered();
  expect(seen.held).toBeGreaterThanOrEqual(100_000);
  inbound.consumed();
  expect(seen.held).toBeLessThan(1000);
});

it('what waits in the stream counts, and keeps no larger buffer', () => {
  const { stream, seen } = begin({ single: false });
  stream.pause();
  const read = Buffer.alloc(65_536);
  for (let index = 0; index < 100; index++) stream.push(read.subarray(index, index + 10));
  expect(seen.held).toBeGreaterThanOrEqual(1000 + 100 * 256);
  expect((stream.read(10) as Buffer).buffer.byteLength).toBeLessThan(10_000);
});

it('pieces of one buffer that wait in the stream count as this buffer once, until the last of them is read', () => {
  const { stream, call, seen } = begin({ single: false, max: 1 << 20 });
  stream.on('data', (piece) => call.decoder.write(piece)).pause();
  const read = framed(Buffer.alloc(65_531));
  for (let at = 0; at < read.length; at += 16_384) stream.push(read.subarray(at, at + 16_384));
  expect(seen.held).toBeLessThan(65_536 + 4 * 256 + 1);
  expect(seen.held).toBeGreaterThanOrEqual(65_536);
  stream.resume();
  while (stream.readableLength > 0) stream.read();
  // The message itself.
  expect(seen.held).toBeLessThan(65_531 + 1024);
});

it('pieces that are read as they arrive do not count', () => {
  const { stream, call, seen } = begin({ single: false, max: 1 << 20 });
  stream.on('data', (piece) => call.decoder.write(piece)).resume();
  while (stream.readableFlowing !== true) stream.read();
  for (let index = 0; index < 100; index++) stream.push(Buffer.of(0, 0, 1, 0, 0).subarray(index % 5, (index % 5) + 1));
  expect(seen.held).toBeLessThan(66_000);
});

it('no more than a mebibyte of messages is read ahead', () => {
  let reads = 0;
  const { call, inbound } = begin({ single: false, max: 4 << 20 });
  Object.assign(call, { startRead: () => reads++ });
  const paced = new Inbound(call, {
    max: 4 << 20,
    single: false,
    paced: true,
    received: { hold: () => {} },
    failed: () => {},
  });
  void inbound;
  call.startRead();
  call.decoder.write(framed(Buffer.alloc(2 << 20)));
  paced.delivered();
  call.startRead();
  expect(reads).toBe(1);
  paced.consumed();
  expect(reads).toBe(2);
});

it('a request of one message must arrive in a minute, and a second more for each 16 KiB', () => {
  const { call, inbound, seen } = begin();
  call.decoder.write(framed(Buffer.alloc(200_000)).subarray(0, 160_000));
  seen.now = 69_000;
  inbound.checkPace();
  expect(seen.failed).toEqual([]);
  seen.now = 70_000;
  inbound.checkPace();
  expect(seen.failed).toEqual([expect.stringMatching(/^DEADLINE_EXCEEDED the request has not arrived in time/)]);
});

it('a stream may wait between messages, but not within one', () => {
  const { call, stream, inbound, seen } = begin({ single: false });
  stream.resume();
  seen.now = 500_000;
  inbound.checkPace();
  call.decoder.write(Buffer.of(0, 0));
  seen.now = 560_000;
  inbound.checkPace();
  expect(seen.failed).toEqual([]);
  seen.now = 561_000;
  inbound.checkPace();
  expect(seen.failed).toHaveLength(1);
});
