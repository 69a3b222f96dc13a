import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startHttp } from '../../adapters/http.ts';
import type { Listener } from '../../adapters/listener.ts';
import { silentLog } from '../../lib/log.ts';
import { until } from '../adapters/clients.ts';
import { aSandbox, fakeServices } from '../adapters/fake-services.ts';

let rest: Listener;
let socket: Socket;
let begun = 0;
let answered = '';
let finish = () => {};

beforeEach(async () => {
  begun = 0;
  answered = '';
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const start = async () => {
    begun++;
    await finished;
    return aSandbox;
  };
  const services = fakeServices({ sandboxes: { start, get: () => aSandbox } });
  rest = await startHttp({ address: { host: '127.0.0.1', port: 0 }, services, log: silentLog });
  socket = connect(rest.port, '127.0.0.1').on('error', () => {});
  socket.on('data', (chunk) => (answered += chunk));
  await once(socket, 'connect');
});
afterEach(async () => {
  finish();
  socket.destroy();
  await rest.close(0);
});

const request = (line: string) => `${line} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`;
const START = request('POST /v1/sandboxes/sb_1/start');
const answers = () => answered.match(/HTTP\/1\.1 200/g)?.length ?? 0;

it('a thousand requests in one packet close their connection, and only some of them are begun', async () => {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(START.repeat(1000));
  await closed;
  expect(begun).toBeLessThanOrEqual(4);
  expect(answers()).toBe(0);
});

it('requests that are answered in the same turn are no exception', async () => {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(request('GET /health').repeat(1000));
  await closed;
  expect(answers()).toBeLessThanOrEqual(4);
});

it('a few pipelined requests are all answered, and as many again behind them', async () => {
  socket.write(START.repeat(4));
  await until(() => begun === 4);
  finish();
  await until(() => answers() === 4);
  socket.write(START.repeat(4));
  await until(() => answers() === 8);
});
