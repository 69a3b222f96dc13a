import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Server, State } from '../contract/server.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { type Moment, type SteppedProxy, startSteppedProxy } from '../docker/stepped-proxy.ts';
import { Api } from '../server/api.ts';

/** Milliseconds that a container may take to end by itself on a busy machine. */
const ENDED_MS = 20_000;
/** With limits of the owner, the daemon's default parent of cgroups is looked for by another container. */
const LIMITS = { auth: { mode: 'keys' }, limits: { per_owner: { memory_bytes: '4GiB' } } };
const KEY = `pdk_operator_${'m'.repeat(43)}`;

let dockerd: Daemon;
let proxy: SteppedProxy;
let state: State;
let server: Server;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'small', { programs: ['sh', 'env', 'cat', 'sleep', 'setsid'] });
  proxy = await startSteppedProxy(dockerd.socketPath, join(dockerd.root, 'stepped.sock'));
});
afterAll(async () => {
  await proxy?.close();
  await dockerd?.stop();
});

beforeEach(async () => {
  state = await State.create();
});
afterEach(async () => {
  proxy.onMoment = () => {};
  await server?.stop();
  expect(await state.leftovers()).toEqual([]);
  await state.remove();
});

async function start(): Promise<Api> {
  const runtime = { ready: 0, docker: { host: proxy.host, default_image: 'small' } };
  const config = { ...LIMITS, runtime };
  server = await Server.start(state, { runtime: 'docker', config, env: { PADDOCK_ADMIN_KEY: KEY } });
  return new Api(server.httpAddress, KEY);
}

/** Kills the server at this moment of the request, when it has come this often. Resolves when it has died. */
function killedAt(request: string, moment: Moment, time: number): Promise<unknown> {
  return new Promise((resolve) => {
    let left = time;
    proxy.onMoment = (at, of) => {
      if (at !== moment || of !== request || --left > 0) return;
      proxy.onMoment = () => {};
      resolve(server.stop('SIGKILL'));
    };
  });
}

/** Nothing of the killed server's containers runs; the next server removes them. */
async function expectAllEnded(): Promise<void> {
  await expect.poll(() => state.processes(), { timeout: ENDED_MS }).toEqual([]);
  const left = await containers();
  const api = await start();
  for (const { id } of await api.sandboxes()) await api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' });
  const present = await containers();
  expect(left.filter((id) => present.includes(id))).toEqual([]);
}

const containers = async () => (await dockerd.docker.listContainers({ all: true })).map(({ Id }) => Id);

/** A request, and how often it has come when it is this step. The first container finds the daemon's default parent. */
const REQUESTS: [string, number][] = [
  ['POST /containers/create', 1],
  ['POST /containers/ID/start', 1],
  ['GET /containers/ID/json', 1],
  ['POST /containers/create', 2],
  ['POST /containers/ID/start', 2],
  ['GET /containers/ID/json', 3],
];
const STEPS = REQUESTS.flatMap(([request, time]) => [
  { request, time, moment: 'asked' as const },
  { request, time, moment: 'answered' as const },
]);

it.each(STEPS)(
  'a container ends with its server, killed at $request, $time: $moment',
  async ({ request, moment, time }) => {
    const api = await start();
    const codebase = await api.codebase();
    const killed = killedAt(request, moment, time);
    const made = api.create(codebase).catch(() => '');
    await killed;
    await made;
    await expectAllEnded();
  },
);

it('a container whose processes open the FIFO of its agent ends with its server', async () => {
  const api = await start();
  const id = await api.create(await api.codebase());
  const command = 'for p in /proc/[0-9]*; do (exec 9<>$p/fd/0 && exec setsid sleep 1000) >/dev/null 2>&1 & done';
  await api.post(`/v1/sandboxes/${id}/exec`, { command });
  await server.stop('SIGKILL');
  await expectAllEnded();
});
