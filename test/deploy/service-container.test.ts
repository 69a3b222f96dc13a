import { execFile, spawn } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Container, ContainerInspectInfo } from 'dockerode';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readMountsSync } from '../../lib/linux/mountinfo.ts';
import { serviceProfile } from '../../lib/runtime/docker/service-profile.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { serviceContainer } from './compose.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CONTEXT = ['deploy/Dockerfile', 'deploy/entrypoint.sh', 'configs/server.yaml', 'dist/server.mjs'];
const plan = serviceContainer(resolve(ROOT, 'deploy/compose.yaml'));

let dockerd: Daemon;
let service: Container;

beforeAll(async () => {
  dockerd = await startDaemon();
  const binaries = {
    node: process.execPath,
    bwrap: '/usr/bin/bwrap',
    mount: '/usr/bin/mount',
    umount: '/usr/bin/umount',
  };
  const files = { 'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\n' };
  await importImage(dockerd.docker, 'service-base', { binaries, files });
  await build();
  service = await dockerd.docker.createContainer(plan);
  await service.start();
  await until('its answer', () => json('GET', '/health').catch(() => undefined));
}, 400_000);
afterAll(() => dockerd?.stop());

async function build(): Promise<void> {
  const tar = spawn('tar', ['-C', ROOT, '-c', ...CONTEXT], { stdio: ['ignore', 'pipe', 'inherit'] });
  const options = { t: plan.Image as string, dockerfile: CONTEXT[0] as string, networkmode: 'none' };
  const progress = await dockerd.docker.buildImage(tar.stdout, { ...options, buildargs: { BASE: 'service-base' } });
  await new Promise<void>((done, failed) =>
    dockerd.docker.modem.followProgress(
      progress,
      (error: Error | null) => (error ? failed(error) : done()),
      (event: { error?: string }) => event.error && failed(new Error(event.error)),
    ),
  );
}

async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > deadline)
      throw new Error(`not within 120 s: ${what}\n${await service.logs({ stdout: true, stderr: true })}`);
    await delay(50);
  }
}

const state = async () =>
  (await service.inspect()).State as ContainerInspectInfo['State'] & { Health: { Status: string } };

const FETCH = `
const [method, path, body] = JSON.parse(process.argv[1]);
const headers = body === undefined ? {} : { 'content-type': 'application/json' };
const response = await fetch('http://127.0.0.1:8080' + path, { method, body, headers });
process.stdout.write(JSON.stringify({ status: response.status, answer: await response.text() }));`;

/** Address in the daemon's own network, where the ports are published. */
async function request(method: string, path: string, body?: unknown): Promise<{ status: number; answer: string }> {
  const data = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const node = [process.execPath, '--input-type=module', '-e', FETCH, JSON.stringify([method, path, data])];
  const { stdout } = await promisify(execFile)('nsenter', [`--net=/proc/${dockerd.pid}/ns/net`, '--', ...node]);
  return JSON.parse(stdout);
}

async function json<T>(method: string, path: string, body?: unknown): Promise<T> {
  const { status, answer } = await request(method, path, body);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${answer}`);
  return JSON.parse(answer) as T;
}

describe('the service in a container of its own', () => {
  it('runs commands in bwrap sandboxes with rules and limits', async () => {
    const codebase = await json<{ id: string }>('POST', '/v1/codebases', { name: 'a', owner_id: 'o' });
    await request('PUT', `/v1/codebases/${codebase.id}/files/docs/a.txt`, 'hello');
    await request('PUT', `/v1/codebases/${codebase.id}/files/secret`, 'hidden');
    const permissions = [
      { pattern: '**', permission: 'PERMISSION_WRITE' },
      { pattern: 'docs', type: 'PATTERN_DIRECTORY', permission: 'PERMISSION_READ', priority: 1 },
      { pattern: 'secret', type: 'PATTERN_FILE', permission: 'PERMISSION_NONE', priority: 1 },
    ];
    const resources = { memory_bytes: 64 * 1024 ** 2, pids_limit: 30 };
    const sandbox = await json<{ id: string }>('POST', '/v1/sandboxes', {
      codebase_id: codebase.id,
      permissions,
      resources,
    });
    const exec = (command: string) =>
      json<{ stdout: string; stderr: string; exit_code: number }>('POST', `/v1/sandboxes/${sandbox.id}/exec`, {
        command,
        timeout: 20,
      });

    expect((await exec('ls -A; cat docs/a.txt; echo new > file; cat file')).stdout).toBe('docs\nhellonew\n');
    expect((await exec('echo x > docs/a.txt')).stderr).toContain('Permission denied');
    expect((await exec('cat secret')).stderr).toContain('No such file');
    expect((await exec('grep -E "^(CapEff|Seccomp):" /proc/self/status')).stdout).toBe(
      'CapEff:\t0000000000000000\nSeccomp:\t2\n',
    );
    expect(await exec('python3 -c "x = bytearray(1 << 28)"')).toMatchObject({ exit_code: 137 });
    await json('DELETE', `/v1/sandboxes/${sandbox.id}`);
  });

  it('has exactly the capabilities of the compose file, and is not privileged', async () => {
    const { HostConfig } = await service.inspect();
    expect(HostConfig.Privileged).toBe(false);
    const { Pid } = await state();
    const status = await readFile(`/proc/${Pid}/status`, 'utf8');
    // CHOWN 0, DAC_OVERRIDE 1, KILL 5, SETGID 6, SETUID 7, SYS_ADMIN 21.
    expect(status).toMatch(/CapEff:\t00000000002000e3\n/);
    expect(status).toMatch(/CapBnd:\t00000000002000e3\n/);
    expect(status).toMatch(/NoNewPrivs:\t1\n/);
    expect(status).toMatch(/Seccomp:\t2\n/);
  });

  it('writes no core file', async () => {
    const { Pid } = await state();
    const children = await readFile(`/proc/${Pid}/task/${Pid}/children`, 'utf8');
    const server = children.trim().split(' ')[0];
    expect(await readFile(`/proc/${server}/cmdline`, 'utf8')).toContain('server.mjs');
    expect(await readFile(`/proc/${server}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 +bytes/m);
  });

  it('can access its own cgroup only', async () => {
    const { Pid } = await state();
    const mounts = readMountsSync(Pid);
    const roots = mounts.filter(({ type }) => type === 'cgroup' || type === 'cgroup2').map(({ root }) => root);
    // In the container nothing above its own cgroup is visible.
    expect(roots.filter((root) => !root.includes(service.id))).toEqual([]);
    expect(roots.length).toBeGreaterThan(0);
  });

  it('becomes healthy', async () => {
    await until('healthy', async () => ((await state()).Health.Status === 'healthy' ? true : undefined));
  });

  it('exits cleanly when it is stopped, and keeps its state', async () => {
    await service.stop({ t: 15 });
    expect((await state()).ExitCode).toBe(0);
    await service.start();
    const { codebases } = await until('its answer', () =>
      json<{ codebases: unknown[] }>('GET', '/v1/codebases').catch(() => undefined),
    );
    expect(codebases).toHaveLength(1);
  });
});

it('the service’s container can run the demo', async () => {
  const { HostConfig, Env, Image } = plan;
  const demo = await dockerd.docker.createContainer({
    Image: Image as string,
    Cmd: ['node', 'scripts/demo.mjs'],
    WorkingDir: '/repo',
    // The demo's temporary state is on the file system of the service's state: sandboxes run programs from it.
    Env: [...(Env ?? []), 'TMPDIR=/var/lib/paddock'],
    HostConfig: {
      ...HostConfig,
      RestartPolicy: { Name: 'no' },
      PortBindings: {},
      Binds: [`${ROOT}:/repo:ro`, `${await realpath(join(ROOT, 'node_modules'))}:/repo/node_modules:ro`],
    },
  });
  await demo.start();
  const { StatusCode } = (await demo.wait()) as { StatusCode: number };
  const said = String(await demo.logs({ stdout: true, stderr: true }));
  expect(said).toMatch(/(\d+) of \1 checks hold/);
  expect(StatusCode).toBe(0);
}, 400_000);

it('the seccomp profile in deploy/ matches the policy', async () => {
  const profile = { ...serviceProfile('x64'), architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'] };
  expect(JSON.parse(await readFile(resolve(ROOT, 'deploy/seccomp.json'), 'utf8'))).toEqual(profile);
});
