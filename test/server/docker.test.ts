import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExecResponse, Sandbox } from '../../lib/contract/messages.ts';
import { Server, State } from '../contract/server.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { Api } from './api.ts';

const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];
const PROGRAMS = ['sh', 'env', 'cat', 'sleep', 'setsid', 'ls', 'id', 'hostname', 'sort', 'wc', 'cut', 'grep'];

let dockerd: Daemon;
let state: State;
let servers: Server[];

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'small', { programs: PROGRAMS });
});
afterAll(() => dockerd?.stop());

beforeEach(async () => {
  state = await State.create();
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  expect(await state.leftovers()).toEqual([]);
  expect(leftByDocker()).toEqual([]);
  expect(await containers()).toEqual([]);
  await state.remove();
});

async function start(
  sections: Record<string, Record<string, unknown>> = {},
  runtime = 'docker',
): Promise<{ server: Server; api: Api }> {
  const docker = { host: dockerd.host, default_image: 'small' };
  const config = { ...sections, runtime: { ...sections.runtime, docker } };
  const server = await Server.start(state, { runtime, config });
  servers.push(server);
  return { server, api: new Api(server.httpAddress) };
}

/** Outside its own folders the docker runtime's things are named by the instance that it keeps there. */
function leftByDocker(): string[] {
  const file = join(state.directory, 'mounts/docker-instance');
  if (!existsSync(file)) return [];
  const name = `docker-${readFileSync(file, 'utf8').trim()}`;
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const cgroups = readdirSync('/sys/fs/cgroup').map((hierarchy) => `/sys/fs/cgroup/${hierarchy}/paddock-${name}`);
  return [...mounts.filter((line) => line.includes(name)), ...cgroups.filter((path) => existsSync(path))];
}

async function containers(): Promise<string[]> {
  return (await dockerd.docker.listContainers({ all: true })).map(({ Id }) => Id);
}

async function run(api: Api, id: string, command: string): Promise<string> {
  const { status, body } = await api.post(`/v1/sandboxes/${id}/exec`, { command });
  const { stdout, exit_code } = body as ExecResponse;
  if (status !== 200 || exit_code !== 0) throw new Error(`${command}: ${status} ${JSON.stringify(body)}`);
  return stdout;
}

describe('a docker server', () => {
  it('killed with commands in progress: the next server runs its sandboxes with their files, and nothing else', async () => {
    const first = await start();
    const codebase = await first.api.codebase();
    const id = await first.api.create(codebase, { permissions: WRITE });
    const gone = await first.api.create(codebase, { permissions: WRITE });
    await run(first.api, id, 'echo kept > file; (setsid sleep 1000 &) ; echo');
    const [before] = await containers();
    await first.server.stop('SIGKILL');

    const { api } = await start();
    await expect.poll(async () => (await api.sandbox(id)).status, { timeout: 60_000 }).toBe('SANDBOX_RUNNING');
    expect(await run(api, id, 'cat file')).toBe('kept\n');
    expect(await run(api, gone, 'ls')).toBe('');
    expect(await containers()).toHaveLength(2);
    expect(await containers()).not.toContain(before);
    expect(state.processes().filter((line) => line.includes('sleep 1000'))).toEqual([]);
  });

  it('whose mount is unmounted restarts its sandboxes on a new one, with their files and the reason', async () => {
    const { server, api } = await start();
    const id = await api.create(await api.codebase(), { permissions: WRITE });
    await run(api, id, 'echo kept > file');
    const running = api.post(`/v1/sandboxes/${id}/exec`, { command: 'echo; exec sleep 1000' });
    await expect.poll(() => state.processes().filter((line) => line.includes('sleep 1000'))).toHaveLength(1);
    spawnSync('umount', ['-f', join(state.directory, 'mounts/fs')]);
    expect((await running).status).toBe(503);
    await expect
      .poll(async () => (await api.sandbox(id)).status_reason, { timeout: 60_000 })
      .toMatch(/^it was brought up again: the workspace file system died: the mount was /);
    await expect.poll(() => server.log.join('\n')).toContain('workspace file system failed, remounting');
    expect(await run(api, id, 'cat file')).toBe('kept\n');
  });

  it('killed during creates and stops has one container per running sandbox afterwards', async () => {
    for (const delay of [100, 500]) {
      const { server, api } = await start();
      const codebase = await api.codebase();
      const lives = [1, 2, 3].map(async () => {
        for (;;) {
          const id = await api.create(codebase, { permissions: WRITE });
          await api.post(`/v1/sandboxes/${id}/stop`, {});
          await api.post(`/v1/sandboxes/${id}/start`, {});
          await api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' });
        }
      });
      const ended = Promise.allSettled(lives);
      await new Promise((resolve) => setTimeout(resolve, delay));
      await server.stop('SIGKILL');
      await ended;
    }
    const { api } = await start();
    const statuses = async () => {
      const { sandboxes } = (await api.get('/v1/sandboxes')) as { sandboxes: Sandbox[] };
      return sandboxes.map(({ status }) => status);
    };
    await expect.poll(statuses, { timeout: 30_000 }).not.toContain('SANDBOX_PENDING');
    const running = (await statuses()).filter((status) => status === 'SANDBOX_RUNNING');
    await expect.poll(containers, { timeout: 30_000 }).toHaveLength(running.length);
  });

  it('marks a sandbox whose container was removed as SANDBOX_ERROR, and restarts it with its files', async () => {
    const { api } = await start();
    const id = await api.create(await api.codebase(), { permissions: WRITE });
    await run(api, id, 'echo kept > file');
    const [container] = await containers();
    await dockerd.docker.getContainer(container!).remove({ force: true });
    await expect.poll(async () => (await api.sandbox(id)).status, { timeout: 30_000 }).toBe('SANDBOX_ERROR');
    expect((await api.sandbox(id)).status_reason).toMatch(/^its container /);
    expect((await api.post(`/v1/sandboxes/${id}/start`, {})).status).toBe(200);
    expect(await run(api, id, 'cat file')).toBe('kept\n');
  });

  it('marks all its sandboxes when the daemon was restarted, and restarts them', async () => {
    const { api } = await start();
    const codebase = await api.codebase();
    const ids = await Promise.all([1, 2].map(() => api.create(codebase, { permissions: WRITE })));
    await dockerd.shutdown();
    const refused = await api.post('/v1/sandboxes', { codebase_id: codebase });
    expect(refused).toMatchObject({ status: 503, body: { message: expect.stringContaining('Docker daemon at') } });
    await dockerd.start();
    for (const id of ids) {
      await expect.poll(async () => (await api.sandbox(id)).status, { timeout: 60_000 }).toBe('SANDBOX_ERROR');
      expect((await api.post(`/v1/sandboxes/${id}/start`, {})).status).toBe(200);
      expect(await run(api, id, 'echo up')).toBe('up\n');
    }
  });

  it('stops, starts and destroys sandboxes, and leaves no container after SIGTERM', async () => {
    const { server, api } = await start();
    const id = await api.create(await api.codebase(), { permissions: WRITE });
    await run(api, id, 'echo kept > file; (setsid sleep 1000 &) ; echo');
    expect((await api.post(`/v1/sandboxes/${id}/stop`, {})).status).toBe(200);
    expect(await containers()).toEqual([]);
    expect(state.processes()).toEqual([]);
    expect((await api.post(`/v1/sandboxes/${id}/start`, {})).status).toBe(200);
    expect(await run(api, id, 'cat file')).toBe('kept\n');
    await api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' });
    expect(await containers()).toEqual([]);
    await api.create(await api.codebase(), { permissions: WRITE });
    expect(await server.stop()).toBe(0);
    expect(await containers()).toEqual([]);
  });

  it('destroys expired sandboxes', async () => {
    const { api } = await start({ sandbox: { cleanup_interval: '100ms' } });
    const id = await api.create(await api.codebase(), { permissions: WRITE, expires_in: 1 });
    await expect.poll(async () => (await api.fetch(`/v1/sandboxes/${id}`)).status, { timeout: 30_000 }).toBe(404);
    await expect.poll(containers).toEqual([]);
  });

  it.each(['away', 'hanging'])('exits in time after SIGTERM while the daemon is %s', async (how) => {
    const { server, api } = await start();
    await api.create(await api.codebase(), { permissions: WRITE });
    if (how === 'away') await dockerd.kill();
    else dockerd.pause();
    const before = performance.now();
    expect(await server.stop()).toBe(0);
    expect(performance.now() - before).toBeLessThan(20_000);
    expect(state.processes()).toEqual([]);
    if (how === 'away') await dockerd.start();
    else dockerd.resume();
    // Its next life removes what this one could not.
    await (await start()).server.stop();
  });

  it('does not start without its daemon, with the reason in one line', async () => {
    const config = { runtime: { docker: { host: `unix://${state.directory}/none.sock` } } };
    await expect(Server.start(state, { runtime: 'docker', config })).rejects.toThrow(
      /ended \(1\)[\s\S]*paddock: .*Docker daemon at unix:\/\/\S+none\.sock, asking its version: connect ENOENT/,
    );
  });
});

describe('ready containers', () => {
  const READY = { runtime: { ready: 2 } };
  const named = async (id: string) =>
    (await dockerd.docker.listContainers({ filters: { name: [id] } })).map(({ Id }) => Id);
  /** Waits until this number of containers runs, and returns them. */
  const present = async (count: number) => {
    await expect.poll(containers, { timeout: 60_000 }).toHaveLength(count);
    return containers();
  };
  /** What the sandbox can see that could differ from others. */
  const SEEN =
    'id; hostname; env | sort; ls -A /tmp /home/sandbox /dev/shm /dev /run/agent/bin; ls -l /proc/self/fd | wc -l; umask; ' +
    'cut -d" " -f1-4 /proc/mounts | sort; cat /proc/net/dev | cut -d: -f1; grep -E "^(Cap|NoNew|Sec|Sig)" /proc/self/status';

  it('are taken by creations, forks and starts, once, and see what others see', async () => {
    const { server, api } = await start(READY);
    const codebase = await api.codebase();
    const limits = (mib: number) => ({ permissions: WRITE, resources: { memory_bytes: mib << 20 } });
    const plain = await api.create(codebase, limits(64));
    // The user, and the layers of the image, differ from container to container.
    const comparable = (text: string) => text.replaceAll(/\b\d{7,}\b|(?<=overlay2\/)[^/]*(\/[A-Z0-9]{26})?/g, '*');
    const seen = async (id: string) => comparable(await run(api, id, SEEN));
    const expected = await seen(plain);
    await run(api, plain, 'echo secret >/tmp/s; echo secret >/dev/shm/s');
    const used = new Set(await named(plain));
    let free = (await present(3)).filter((each) => !used.has(each));
    /** Its container was a ready one, and another one takes the place of that. */
    const taken = async (id: string) => {
      const [container] = await named(id);
      expect(free).toContain(container);
      used.add(container!);
      free = (await present(used.size + 2)).filter((each) => !used.has(each));
    };

    const second = await api.create(codebase, limits(32));
    await taken(second);
    expect(await seen(second)).toBe(expected);
    const [container] = await named(second);
    const { HostConfig } = await dockerd.docker.getContainer(container!).inspect();
    expect([HostConfig.Memory, HostConfig.MemorySwap]).toEqual([32 << 20, 32 << 20]);
    await run(api, second, 'echo kept > file');

    const { body } = await api.post(`/v1/sandboxes/${second}/fork`, {});
    const [{ sandbox }] = (body as { results: [{ sandbox: Sandbox }] }).results;
    await taken(sandbox.id);
    expect(await run(api, sandbox.id, 'cat file')).toBe('kept\n');

    await api.post(`/v1/sandboxes/${second}/stop`, {});
    used.delete(container!);
    await present(used.size + 2);
    expect((await api.post(`/v1/sandboxes/${second}/start`, {})).status).toBe(200);
    await taken(second);
    expect(await run(api, second, 'cat file; ls /tmp')).toBe('kept\n');
    expect(await server.stop()).toBe(0);
    expect(await containers()).toEqual([]);
    expect(existsSync(join(state.directory, 'mounts/docker-ready'))).toBe(false);
  });

  it('are removed by the next server after kill -9, also if it uses Docker for nothing else', async () => {
    const { server, api } = await start(READY, 'bwrap');
    const id = await api.create(await api.codebase(), { permissions: WRITE, runtime: 'RUNTIME_DOCKER' });
    await present(3);
    await api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' });
    await present(2);
    await server.stop('SIGKILL');
    // No process of them lives without its server.
    await expect.poll(() => state.processes(), { timeout: 20_000 }).toEqual([]);
    await start(READY, 'bwrap');
    expect(await containers()).toEqual([]);
  });
});
