import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../../../docker/daemon.ts';
import { importImage } from '../../../docker/images.ts';
import { openScene, type Scene, sh } from './sandbox.ts';

let dockerd: Daemon;

beforeAll(async () => {
  dockerd = await startDaemon();
});
afterAll(() => dockerd?.stop());

async function within<T>(use: (scene: Scene) => Promise<T>, options = {}): Promise<T> {
  const scene = await openScene(dockerd, options);
  try {
    return await use(scene);
  } finally {
    await scene.end();
  }
}

describe('another image', () => {
  it('runs with busybox as its shell', async () => {
    const links = ['sh', 'cat', 'env', 'id', 'sleep', 'pwd', 'wc'];
    await importImage(dockerd.docker, 'busybox', { programs: ['busybox'], links: { busybox: links } });
    await within(async (scene) => {
      const sandbox = await scene.launch({ image: 'busybox' });
      const command = 'id -un; pwd; env | cat | wc -l; read line; echo "$line $A"; exit 3';
      const output = await sh(sandbox, command, { stdin: 'in\n', env: { A: 'b', LC_ALL: 'C' }, workdir: '/tmp' });
      expect(output).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/^sandbox\n\/tmp\n\d+\nin b\n$/) });
      await expect(sh(sandbox, 'sleep 60', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      const terminal = { columns: 80, rows: 24 };
      await expect(sh(sandbox, 'true', { terminal })).rejects.toMatchObject({
        code: 'FAILED_PRECONDITION',
        message: expect.stringContaining('its image has no perl'),
      });
    });
  });

  it('gives a command a terminal by what it has', async () => {
    for (const name of ['perl', 'python3', 'script']) {
      const programs = ['dash', name, 'stty', 'tty', 'env'];
      await importImage(dockerd.docker, name, { programs, links: { dash: ['sh'] } });
    }
    await within(async (scene) => {
      for (const image of ['perl', 'python3', 'script']) {
        const sandbox = await scene.launch({ image });
        const terminal = { columns: 90, rows: 30 };
        const output = await sh(sandbox, 'tty; stty size; : >/dev/tty; exit 3', { terminal });
        expect(output).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/^\/dev\/pts\/\d+\r\n30 90\r\n$/) });
      }
    });
  });

  it('runs with bash as its shell', async () => {
    await importImage(dockerd.docker, 'bash', { programs: ['bash', 'env', 'cat'], links: { bash: ['sh'] } });
    await within(async (scene) => {
      const sandbox = await scene.launch({ image: 'bash' });
      expect(await sh(sandbox, 'echo "$BASH_VERSION" | cat >&2; echo "$A"', { env: { A: "it's" } })).toMatchObject({
        stdout: "it's\n",
        stderr: expect.stringMatching(/^\d/),
      });
    });
  });

  it('runs if it contains nothing but a shell', async () => {
    await importImage(dockerd.docker, 'shell', { programs: ['dash'], links: { dash: ['sh'] } });
    await within(async (scene) => {
      const sandbox = await scene.launch({ image: 'shell' });
      expect((await sh(sandbox, 'echo "$HOME $A"; pwd', { env: { A: 'b' } })).stdout).toBe(
        '/home/sandbox b\n/workspace\n',
      );
    });
  });

  it('is refused if its /bin/sh does not run on this machine', async () => {
    await importImage(dockerd.docker, 'foreign', { programs: [], files: { 'bin/sh': '\x7fELF no program' } });
    await within(async (scene) => {
      await expect(scene.launch({ image: 'foreign' })).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
      expect(await dockerd.docker.listContainers({ all: true })).toEqual([]);
    });
  });

  it('is refused if it has a file at the path of the workspace', async () => {
    await importImage(dockerd.docker, 'in-the-way', { programs: ['sh'], files: { workspace: 'a file' } });
    await within(async (scene) => {
      await expect(scene.launch({ image: 'in-the-way' })).rejects.toMatchObject({
        code: 'FAILED_PRECONDITION',
        message: expect.stringMatching(/^image "in-the-way": /),
      });
    });
  });

  it('is refused if it declares a volume inside the workspace', async () => {
    await importImage(dockerd.docker, 'volume', { programs: ['sh'], changes: ['VOLUME /workspace/node_modules'] });
    await within(async (scene) => {
      await expect(scene.launch({ image: 'volume' })).rejects.toMatchObject({
        code: 'FAILED_PRECONDITION',
        message: expect.stringContaining('/workspace/node_modules'),
      });
    });
  });
});

describe('the network of a sandbox', () => {
  const INTERFACES = 'import os; print(*sorted(os.listdir("/proc/sys/net/ipv4/conf")))';

  it.each([
    [{ networkMode: 'bridge', enableNetworking: true } as const, /\beth0\b/],
    [{ networkMode: 'bridge', enableNetworking: false } as const, /^all default lo\n$/],
    [{ networkMode: 'host', enableNetworking: false } as const, /^all default lo\n$/],
    [{ networkMode: 'none', enableNetworking: true } as const, /^all default lo\n$/],
    [{ networkMode: 'host', enableNetworking: true } as const, /\bdocker0\b/],
  ])('is as configured: %j', async (options, interfaces) => {
    await importImage(dockerd.docker, 'python', { programs: ['sh', 'env', 'python3'] });
    await within(async (scene) => {
      const sandbox = await scene.launch({ image: 'python' });
      expect((await sh(sandbox, `python3 -c '${INTERFACES}'`)).stdout).toMatch(interfaces);
    }, options);
  });
});
