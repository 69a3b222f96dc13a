import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { Peer } from '../../adapters/http/attach/peer.ts';
import { until } from './clients.ts';

const TIMES = { pingMs: 10, closeMs: 100, endMs: 100 };
const http = createServer();
let server: WebSocketServer;
let client: WebSocket;
let ws: WebSocket;
let peer: Peer;

beforeEach(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  server = new WebSocketServer({ server: http, allowSynchronousEvents: false });
  const connected = once(server, 'connection');
  client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  client.on('error', () => {});
  await once(client, 'open');
  [ws] = (await connected) as [WebSocket];
  peer = new Peer(ws, { times: TIMES });
});
afterEach(async () => {
  client.terminate();
  server.close();
  await new Promise((resolve) => http.close(resolve));
});

const socketOf = (socket: WebSocket) => (socket as unknown as { _socket: Socket })._socket;

it('is cut when it does not answer pings', async () => {
  socketOf(client).pause();
  await peer.closed;
});

it('is kept while it answers pings', async () => {
  let pings = 0;
  client.on('ping', () => pings++);
  await until(() => pings > 40);
  expect(client.readyState).toBe(WebSocket.OPEN);
});

it('is kept while its messages wait for their reader', async () => {
  const since = Date.now();
  for (let sent = 0; sent < 64; sent++) client.send(Buffer.alloc(2048));
  await until(() => peer.messages.isFull);
  await until(() => Date.now() - since > 20 * TIMES.pingMs);
  expect(client.readyState).toBe(WebSocket.OPEN);
  let taken = 0;
  for await (const { data } of peer.messages) {
    taken += data.length;
    if (taken === 64 * 2048) break;
  }
});

it('is cut when it does not answer a close', async () => {
  socketOf(client).pause();
  peer.close(1000, 'ended');
  await peer.closed;
});

it('is sent nothing after a close', async () => {
  const frames: unknown[] = [];
  client.on('message', (data) => frames.push(data));
  const closed = once(client, 'close');
  peer.close(1000, 'ended');
  await peer.send('late');
  peer.sendIfRead('late');
  expect((await closed)[0]).toBe(1000);
  expect(frames).toEqual([]);
});

it('is cut when it pings and reads no answer: few of them are kept for it', async () => {
  // As if the kernel took no more.
  socketOf(ws).cork();
  let most = 0;
  ws.on('ping', () => {
    most = Math.max(most, ws.bufferedAmount);
  });
  for (let sent = 0; sent < 1000; sent++) client.ping(Buffer.alloc(125));
  await peer.closed;
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(16 * 1024);
});
