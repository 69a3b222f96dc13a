import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startHttp } from '../../adapters/http.ts';
import type { Listener } from '../../adapters/listener.ts';
import { silentLog } from '../../lib/log.ts';
import type { Sandboxes } from '../../lib/services.ts';
import { Shares } from '../../lib/shares.ts';
import { until } from './clients.ts';
import { aSandbox, exit, fakeServices, output } from './fake-services.ts';

const MAX = 16;

let rest: Listener;
let busy = 0;
let finish = () => {};
const sockets: Socket[] = [];
afterEach(async () => {
  finish();
  for (const socket of sockets.splice(0)) socket.destroy();
  await rest.close(0);
});

async function start(): Promise<void> {
  busy = 0;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const services = fakeServices({
    sandboxes: {
      start: async () => {
        busy++;
        await finished;
        return aSandbox;
      },
      destroy: async () => {},
      get: () => aSandbox,
    },
  });
  const address = { host: '127.0.0.1', port: 0 };
  rest = await startHttp({ address, services, maxConnections: MAX, log: silentLog });
}

async function dial(bytes: string): Promise<Socket> {
  const socket = connect(rest.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Returns the status of the answer; '' if the connection was closed without an answer. */
async function statusOf(request: string): Promise<string> {
  const socket = await dial(`${request} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  const answer = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])]);
  return String(answer[0]).split(' ')[1] ?? '';
}

/** Repeats the request until its answer has `status`: a new connection may be closed while earlier ones are being closed. */
async function reaches(request: string, status: string): Promise<void> {
  await expect.poll(() => statusOf(request), { timeout: 30_000 }).toBe(status);
}

it('a REST server closes the oldest idle connection for a new one, so that silent and half-open ones block no client', async () => {
  await start();
  const first = await dial('');
  const closed = once(first, 'close');
  first.resume();
  for (let index = 0; index < 4 * MAX; index++) {
    await dial(index % 2 === 0 ? '' : 'POST /v1/sandboxes HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
    if (index % 8 === 0) await reaches('GET /health', '200');
  }
  await closed;
  await reaches('GET /v1/sandboxes/sb_1', '200');
});

it('a REST server whose connections are all busy serves /health, StopSandbox and DestroySandbox, and refuses other requests', async () => {
  await start();
  for (let index = 0; index < MAX; index++)
    await dial('POST /v1/sandboxes/sb_1/start HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await until(() => busy === MAX);
  await reaches('GET /v1/sandboxes/sb_1', '429');
  await reaches('PUT /v1/codebases/cb_1/files/a', '429');
  // Silent connections replace each other in the reserve.
  for (let index = 0; index < MAX; index++) await dial('');
  await reaches('GET /health', '200');
  await reaches('DELETE /v1/sandboxes/sb_1', '200');
  finish();
  await reaches('GET /v1/sandboxes/sb_1', '200');
});

it('a REST server ends every pipelined call whose client disconnects, and gives back the memory of its output', async () => {
  const signals: AbortSignal[] = [];
  const execMemory = new Shares<string>(1024 * 1024);
  const exec: Sandboxes['exec'] = async (_, signal) => {
    signals.push(signal!);
    return (async function* () {
      yield output('x'.repeat(100_000));
      await new Promise<void>((resolve) => signal!.addEventListener('abort', () => resolve(), { once: true }));
      yield exit();
    })();
  };
  const services = fakeServices({ sandboxes: { exec }, limits: { execOutputBytes: 1024 * 1024, execMemory } });
  rest = await startHttp({ address: { host: '127.0.0.1', port: 0 }, services, log: silentLog });
  const whole = execMemory.available('sb_1');
  const body = '{"command":"x"}';
  const head = `POST /v1/sandboxes/sb_1/exec HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`;
  const socket = await dial((head + body).repeat(3));
  await until(() => signals.length === 3 && execMemory.available('sb_1') < whole);
  socket.destroy();
  await until(() => signals.every(({ aborted }) => aborted));
  await until(() => execMemory.available('sb_1') === whole);
});
