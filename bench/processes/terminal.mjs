/** Measures the CPU time of the server while a client is attached to the terminal of an idle shell. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { verdictOf } from './alternate.mjs';

const WATCHED_MS = 10_000;
const SETTLE_MS = 3000;
/** Seconds; the clock of CPU times has a hundred ticks in one. */
const MOST = 0.05;

export async function terminal(server) {
  const id = await server.create();
  const processes = `/v1/sandboxes/${id}/processes`;
  await server.exec(id);
  const alone = await cpuOf(server);
  const { process_id } = await server.call('POST', processes, {
    argv: ['/bin/sh'],
    terminal: { columns: 80, rows: 24 },
  });
  const socket = await attach(server, `${processes}/${process_id}/attach`);
  const attached = await cpuOf(server);
  socket.destroy();
  await server.destroy(id);
  const row = {
    name: `CPU time of the server in ${WATCHED_MS / 1000} s with an attached idle terminal, more than without`,
    value: `${Math.max(attached - alone, 0).toFixed(2)} s`,
    beside: `${attached.toFixed(2)} s with it, ${alone.toFixed(2)} s without`,
    must: `${MOST} s`,
    verdict: verdictOf(attached - alone <= MOST),
  };
  return { title: 'Terminal', rows: [row] };
}

async function cpuOf(server) {
  await delay(SETTLE_MS);
  const before = server.cpu();
  await delay(WATCHED_MS);
  return server.cpu() - before;
}

/** Opens a WebSocket and waits for its first output, the prompt. */
async function attach(server, path) {
  const headers = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
  const sending = request({ ...server.address, path, headers });
  sending.end();
  const refused = once(sending, 'response').then(([{ statusCode }]) => {
    throw new Error(`attach: ${statusCode}`);
  });
  const [, socket, head] = await Promise.race([once(sending, 'upgrade'), refused]);
  if (head.length === 0) await once(socket, 'data');
  return socket.resume();
}
