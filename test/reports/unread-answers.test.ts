import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startGrpc } from '../../adapters/grpc.ts';
import { startHttp } from '../../adapters/http.ts';
import type { Listener } from '../../adapters/listener.ts';
import { ReceivedBytes } from '../../lib/limits/received-bytes.ts';
import { silentLog } from '../../lib/log.ts';
import { until } from '../adapters/clients.ts';
import { aSandbox, fakeServices } from '../adapters/fake-services.ts';

const MIB = 1024 * 1024;
const ADDRESS = { host: '127.0.0.1', port: 0 };
const WATCH = '/grpc.health.v1.Health/Watch';
const GET = '/service.v1.SandboxService/GetSandbox';

let listener: Listener;
const sockets: Socket[] = [];
const sessions: ClientHttp2Session[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const session of sessions.splice(0)) session.destroy();
  await listener.close(0);
});

function services(answer: number, maxUnsent: number) {
  const sandbox = { ...aSandbox, status_reason: 'x'.repeat(answer) };
  return fakeServices({
    sandboxes: { get: () => sandbox },
    received: new ReceivedBytes(undefined, undefined, maxUnsent),
  });
}

/** Asks for a sandbox over REST. Its answer is not read before `resume`. */
async function ask(): Promise<Socket> {
  const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  socket.pause();
  await once(socket, 'connect');
  socket.write('GET /v1/sandboxes/sb_1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  return socket;
}

async function bytesOf(socket: Socket): Promise<number> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let bytes = 0;
  socket.on('data', (chunk) => (bytes += chunk.length)).resume();
  await closed;
  return bytes;
}

/** Begins `count` calls on a connection whose client lets the server send nothing in them. Returns those that are open. */
function calls(path: string, count: number): () => number {
  const session = connectHttp2(`http://127.0.0.1:${listener.port}`, { settings: { initialWindowSize: 0 } });
  session.on('error', () => {});
  sessions.push(session);
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
  const open = new Set<ClientHttp2Stream>();
  for (let index = 0; index < count; index++) {
    const stream = session.request(headers).on('error', () => {});
    open.add(stream);
    stream.once('close', () => open.delete(stream));
    stream.end(Buffer.from([0, 0, 0, 0, 6, 10, 4, ...Buffer.from('sb_1')]));
  }
  return () => open.size;
}

it('answers over REST that are not read are cut when they take too much, and others are still sent', async () => {
  const size = 16 * MIB;
  listener = await startHttp({ address: ADDRESS, services: services(size, 4 * size), log: silentLog });
  const unread = await Promise.all(Array.from({ length: 8 }, ask));
  expect(await bytesOf(await ask())).toBeGreaterThan(size);
  const lengths = await Promise.all(unread.map(bytesOf));
  expect(lengths.filter((bytes) => bytes > size).length).toBeLessThanOrEqual(4);
});

it('a client over REST that reads many large answers, one after the other, gets all of them', async () => {
  const size = 16 * MIB;
  listener = await startHttp({ address: ADDRESS, services: services(size, 2 * size), log: silentLog });
  for (let index = 0; index < 3; index++) expect(await bytesOf(await ask())).toBeGreaterThan(size);
});

it('answers over gRPC that are not read are cut when they are too many', async () => {
  listener = await startGrpc({ address: ADDRESS, services: services(100, MIB), log: silentLog });
  const open = calls(GET, 200);
  await until(() => open() <= 64);
});

it('calls that need no key, and never end, are cut when they are too many, but not the only one of another client', async () => {
  listener = await startGrpc({ address: ADDRESS, services: services(0, MIB), log: silentLog });
  const only = calls(WATCH, 1);
  const many = calls(WATCH, 100);
  await until(() => many() <= 8);
  expect(only()).toBe(1);
});
