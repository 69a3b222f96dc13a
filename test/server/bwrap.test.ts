import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { readMountsSync } from '../../lib/linux/mountinfo.ts';
import { Server, type StartOptions, State } from '../contract/server.ts';
import { Api } from './api.ts';

const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];

let state: State;
let servers: Server[];

beforeEach(async () => {
  state = await State.create();
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  expect(await state.leftovers()).toEqual([]);
  await state.remove();
});

async function start(options: StartOptions = {}): Promise<{ server: Server; api: Api }> {
  const server = await Server.start(state, { runtime: 'bwrap', ...options });
  servers.push(server);
  return { server, api: new Api(server.httpAddress) };
}

async function run(api: Api, id: string, command: string): Promise<string> {
  const { status, body } = await api.post(`/v1/sandboxes/${id}/exec`, { command });
  const { stdout, exit_code } = body as ExecResponse;
  if (status !== 200 || exit_code !== 0) throw new Error(`${command}: ${status} ${JSON.stringify(body)}`);
  return stdout;
}

/** The mount point of the one workspace file system that `server` serves. */
function mountPointOf(server: Server): string {
  const paths = readMountsSync(server.pid).flatMap(({ type, mountPoint }) => (type === 'fuse' ? [mountPoint] : []));
  const path =
    paths.find((each) => each.startsWith(state.directory)) ??
    paths.findLast((each) => each === `/run/paddock/workspaces-${state.name}`);
  if (!path) throw new Error('nothing is mounted');
  return path;
}

describe('a bwrap server', () => {
  it('killed with commands in progress leaves no process, and its sandboxes restart with their files', async () => {
    const first = await start();
    const id = await first.api.create(await first.api.codebase(), { permissions: WRITE });
    await run(first.api, id, 'echo kept > file; (setsid sleep 1000 &) ; sleep 1000 & echo');
    const hanging = first.api.post(`/v1/sandboxes/${id}/exec`, { command: 'sleep 1000' }).catch(() => undefined);
    await expect.poll(() => sleepers()).toBe(3);
    await first.server.stop('SIGKILL');
    await hanging;
    await expect.poll(() => state.processes(), { timeout: 30_000 }).toEqual([]);

    const { api } = await start();
    expect((await api.sandbox(id)).status).toBe('SANDBOX_RUNNING');
    expect(await run(api, id, 'cat file')).toBe('kept\n');
    expect(sleepers()).toBe(0);
  });

  it('killed at any moment keeps every file whose write a command has seen succeed', async () => {
    let id = '';
    const written: string[] = [];
    for (let round = 0; ; round++) {
      const { server, api } = await start();
      id ||= await api.create(await api.codebase(), { permissions: WRITE });
      const names = (await run(api, id, 'ls')).split('\n');
      expect(written.filter((name) => !names.includes(name))).toEqual([]);
      if (round === 4) return;
      let killed = false;
      const writer = async (client: number) => {
        for (let n = 0; !killed; n++) {
          const name = `${round}-${client}-${n}`;
          if ((await run(api, id, `echo ${name} > ${name}`).catch(() => undefined)) === '') written.push(name);
        }
      };
      const writers = Promise.all([0, 1, 2].map(writer));
      const goal = written.length + 5 * (round + 1);
      await expect.poll(() => written.length, { timeout: 60_000, interval: 1 }).toBeGreaterThan(goal);
      await server.stop('SIGKILL');
      killed = true;
      await writers;
    }
  });

  it('exits with 0 in time on SIGTERM under load and leaves nothing', async () => {
    const { server, api } = await start();
    const codebase = await api.codebase();
    const ids = await Promise.all(Array.from({ length: 5 }, () => api.create(codebase, { permissions: WRITE })));
    const load = ids.map((id) =>
      api.post(`/v1/sandboxes/${id}/exec`, { command: 'trap "" TERM; while :; do echo x >> file; done', timeout: 60 }),
    );
    const ended = Promise.allSettled(load);
    await expect.poll(async () => (await run(api, ids[0]!, 'test -s file; echo $?')).trim()).toBe('0');
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(20_000);
    await ended;
    expect(await state.leftovers()).toEqual([]);
  });

  it.each(['-f', '-l'])('whose mount is unmounted (umount %s) remounts and restarts its sandboxes', async (how) => {
    const { server, api } = await start();
    const codebase = await api.codebase();
    const id = await api.create(codebase, { permissions: WRITE });
    await run(api, id, 'echo kept > file');
    const running = api.post(`/v1/sandboxes/${id}/exec`, { command: 'sleep 1000' });
    await expect.poll(() => sleepers()).toBe(1);
    spawnSync('umount', [how, mountPointOf(server)]);
    // Also before the server has noticed.
    expect(await run(api, await api.create(codebase, { permissions: WRITE }), 'echo new > file; cat file')).toBe(
      'new\n',
    );
    const { status, body } = await running;
    expect([status, (body as { message: string }).message]).toEqual([
      503,
      expect.stringMatching(/^the workspace file system died: the mount was /),
    ]);
    expect(await run(api, id, 'cat file')).toBe('kept\n');
    const sandbox = await api.sandbox(id);
    expect(sandbox.status).toBe('SANDBOX_RUNNING');
    expect(sandbox.status_reason).toMatch(/^it was brought up again: the workspace file system died: the mount was /);
    await expect.poll(() => server.log.join('\n')).toContain('workspace file system failed, remounting');
  });

  it('has a higher priority than its sandboxes, which have its original one', async () => {
    const { server, api } = await start();
    const codebase = await api.codebase();
    const own = getPriority();
    for (let each = 0; each < 3; each++) {
      const id = await api.create(codebase, { permissions: WRITE });
      expect(await run(api, id, 'nice; (sleep 0.01; nice) & wait')).toBe(`${own}\n${own}\n`);
    }
    // The request worker has that of the programs, which it shares a CPU with: see `setNiceness` in request-worker.ts.
    const threads = readdirSync(`/proc/${server.pid}/task`).map((thread) => getPriority(Number(thread)));
    expect(threads.filter((nice) => nice === own)).toHaveLength(1);
    expect(threads.filter((nice) => nice === own - 7)).toHaveLength(threads.length - 1);
    expect(getPriority(server.pid)).toBe(own - 7);
  });

  it('holds no descriptor of a sandbox that is destroyed', async () => {
    const { server, api } = await start();
    const codebase = await api.codebase();
    const descriptors = () =>
      readdirSync(`/proc/${server.pid}/fd`).flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/${server.pid}/fd/${fd}`)];
        } catch {
          return [];
        }
      });
    for (let n = 0; n < 5; n++) {
      const id = await api.create(codebase, { permissions: WRITE });
      await run(api, id, 'echo x > file; cat file');
      await api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' });
      await expect.poll(() => descriptors().filter((path) => path.includes(id))).toEqual([]);
    }
    expect(state.processes()).toEqual([]);
  });

  it('refuses a runtime that does not work on this machine', async () => {
    const { api } = await start();
    const codebase_id = await api.codebase();
    expect((await api.post('/v1/sandboxes', { codebase_id, runtime: 'RUNTIME_MOCK' })).status).toBe(200);
    const docker = await api.post('/v1/sandboxes', { codebase_id, runtime: 'RUNTIME_DOCKER' });
    expect([400, 503]).toContain(docker.status);
  });
});

describe('a mock server', () => {
  it('mounts for the first sandbox that needs it, and leaves no mount', async () => {
    const { server, api } = await start({ runtime: 'mock' });
    const codebase_id = await api.codebase();
    await api.create(codebase_id);
    expect(() => mountPointOf(server)).toThrow('nothing is mounted');
    const id = await api.create(codebase_id, { runtime: 'RUNTIME_BWRAP', permissions: WRITE });
    expect(await run(api, id, 'echo hi')).toBe('hi\n');
    expect(await server.stop()).toBe(0);
  });
});

function sleepers(): number {
  return state.processes().filter((line) => /: sleep 1000/.test(line)).length;
}
