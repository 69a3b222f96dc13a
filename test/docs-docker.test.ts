import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Server, State } from './contract/server.ts';
import { type Daemon, startDaemon } from './docker/daemon.ts';
import { importImage } from './docker/images.ts';

const ROOT = resolve(import.meta.dirname, '..');

let dockerd: Daemon;
let state: State;
let server: Server;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'ubuntu:22.04', { programs: ['sh', 'env', 'id', 'cat', 'touch'] });
  state = await State.create();
  server = await Server.start(state, { config: { runtime: { docker: { host: dockerd.host } } } });
});
afterAll(async () => {
  await server?.stop();
  await state?.remove();
  await dockerd?.stop();
});

it('the commands of docs/docker.md have the described results on a bwrap server', async () => {
  const text = readFileSync(resolve(ROOT, 'docs/docker.md'), 'utf8');
  const [, code = ''] = /<!-- docker walk -->\n```sh\n([\s\S]*?)```/.exec(text) ?? [];
  const script = code.replace('http://127.0.0.1:8080', `http://${server.httpAddress}`);
  const env = { PATH: process.env.PATH, DOCKER_HOST: dockerd.host };
  const { stdout, stderr } = await promisify(execFile)('sh', ['-euc', script], { cwd: ROOT, env });
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n').slice(1);
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    stdout: 'sandbox\nhello',
    stderr: expect.stringContaining('Read-only file system'),
    exit_code: 1,
  });
  expect(lines.slice(1)).toEqual([expect.stringMatching(/^\S+ running$/), '{}', '{}']);
});
