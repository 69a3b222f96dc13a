import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { world } from './world.ts';

let at: Awaited<ReturnType<typeof world>>;
/** Connections that the program has accepted, in the order of the requests on them. */
let connections: number[];
let respond: (req: IncomingMessage, res: ServerResponse) => void;
beforeEach(async () => {
  connections = [];
  respond = (_, res) => res.end('ok');
  at = await world((req, res) => {
    connections.push(req.socket.remotePort!);
    respond(req, res);
  });
});
afterEach(() => at.close());

const ask = (method = 'GET', headers = {}, body?: string) =>
  at.ask(`${at.path}/`, { ...at.key('ann'), ...headers }, { method, ...(body && { body }) });
const idle = () => vi.waitFor(() => expect([at.uses(), at.cuts.size]).toEqual([0, 0]), { timeout: 30_000 });
/** A connection is kept for a second, which a busy machine may take for a request, or for what a program sends to arrive. */
const kept = { retry: 5 };

it('carries one GET after the other by one connection, and nothing else', kept, async () => {
  for (const method of ['GET', 'GET', 'HEAD', 'GET', 'DELETE', 'GET']) {
    expect((await ask(method)).status).toBe(200);
    await idle();
  }
  expect((await ask('GET', { 'content-length': '6' }, 'a body')).status).toBe(200);
  const [first, ...others] = connections;
  expect(connections).toEqual([first, first, others[1], first, others[3], first, others[5]]);
  expect(new Set(connections).size).toBe(4);
});

it('asks again where a kept connection has ended', kept, async () => {
  respond = (req, res) => {
    const isAgain = connections.filter((each) => each === req.socket.remotePort).length > 1;
    if (isAgain) req.socket.destroy();
    else res.end('ok');
  };
  expect((await ask()).text).toBe('ok');
  await idle();
  expect(await ask()).toMatchObject({ status: 200, text: 'ok' });
  expect([connections[0], new Set(connections).size, connections.length]).toEqual([connections[1], 2, 3]);
  // A program that cuts each connection is asked once, or again by a connection of its own.
  respond = (req) => req.socket.destroy();
  await idle();
  expect((await ask()).status).toBe(502);
});

const EXTRA = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil';

it.each([
  ['with the answer', (socket: Socket) => void socket.write(EXTRA)],
  ['after it', (socket: Socket) => void setImmediate(() => socket.write(EXTRA))],
])('takes nothing that a program sends %s for the next one', kept, async (_, more) => {
  respond = (_req, res) => {
    const { socket } = res;
    res.end('ok');
    more(socket!);
  };
  await ask();
  await idle();
  // What was sent has arrived.
  await delay(50);
  respond = (_req, res) => res.end('good');
  expect(await ask()).toMatchObject({ status: 200, text: 'good' });
  expect(new Set(connections).size).toBe(2);
});

it.each(['GET', 'POST'])('switches no connection of a client that did not ask for it: %s', async (method) => {
  let later = '';
  respond = ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nwelcome');
    socket.on('data', (data) => {
      later += data;
    });
  };
  const answer = await ask(method);
  expect([answer.status, answer.text]).toEqual([502, expect.stringContaining('does not answer with HTTP')]);
  // The next request of the client's connection is for the service, with its key.
  await idle();
  expect(later).toBe('');
});

it('keeps no connection for long, and none of a port that is closed', async () => {
  const ended = new Promise((resolve) => {
    respond = (req, res) => {
      req.socket.once('close', resolve);
      res.end('ok');
    };
  });
  await ask();
  await ended;
  await ask();
  await idle();
  at.state.cuts++;
  await ask();
  expect(new Set(connections).size).toBe(3);
});
