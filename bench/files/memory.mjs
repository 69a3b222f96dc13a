/** Measures the memory of a server of its own: idle, and when it is idle again after much work. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../exec/server.mjs';
import { verdictOf } from '../processes/alternate.mjs';
import { downloaded, uploaded } from './grpc-js.mjs';
import { RawClient } from './raw-client.mjs';

const MIB = 2 ** 20;
const CONTENT = Buffer.alloc(64 * MIB, 'y');
const TRANSFERS = 3;
const SANDBOXES = 50;
const GETS = 2000;
/** Milliseconds after which V8 has collected what a start or the work has left. */
const SETTLED_MS = 30_000;
const MOST_IDLE = 110;
const MOST_AFTERWARDS = 200;

export async function memory() {
  const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-memory-'));
  const server = await Server.start(directory);
  try {
    const started = server.rss();
    await delay(SETTLED_MS);
    const idle = server.rss();
    await work(server);
    const busy = server.rss();
    await delay(SETTLED_MS);
    const row = (name, bytes, beside, most) => ({
      name,
      value: `${(bytes / MIB).toFixed(0)} MiB`,
      beside,
      must: `${most} MiB`,
      verdict: verdictOf(bytes <= most * MIB),
    });
    return {
      title: `Resident memory of a server, ${SETTLED_MS / 1000} s after the start and after ${SANDBOXES} sandboxes and ${4 * TRANSFERS} × 64 MiB`,
      rows: [
        row('idle', idle, `${(started / MIB).toFixed(0)} MiB when it was ready`, MOST_IDLE),
        row('afterwards', server.rss(), `${(busy / MIB).toFixed(0)} MiB at the end of the work`, MOST_AFTERWARDS),
      ],
    };
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function work(server) {
  const ids = await Promise.all(Array.from({ length: SANDBOXES }, () => server.create()));
  await Promise.all(ids.map((id) => server.exec(id, 'echo text > file')));
  const [id, ...others] = ids;
  const client = await RawClient.open(server.address);
  for (let i = 0; i < TRANSFERS; i++) {
    await client.call('PUT', `/v1/sandboxes/${id}/files/large`, CONTENT);
    await client.call('GET', `/v1/sandboxes/${id}/files/large`);
    const file = { sandbox_id: id, path: 'large', as: 'agent' };
    await uploaded(server.grpcAddress, file, CONTENT);
    await downloaded(server.grpcAddress, file, CONTENT.length);
  }
  for (let i = 0; i < GETS; i++) await client.call('GET', `/v1/sandboxes/${id}/files/file`);
  client.close();
  await Promise.all(others.map((each) => server.destroy(each)));
}
