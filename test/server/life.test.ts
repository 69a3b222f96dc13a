import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUNDLE, Server, type StartOptions, State } from '../contract/server.ts';
import { Api } from './api.ts';
import { StormModel } from './storm-model.ts';

let state: State;
let servers: Server[];

beforeEach(async () => {
  state = await State.create();
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await state.remove();
});

async function start(options: StartOptions = {}): Promise<{ server: Server; api: Api }> {
  const server = await Server.start(state, { runtime: 'mock', ...options });
  servers.push(server);
  return { server, api: new Api(server.httpAddress) };
}

describe('a server', () => {
  it('logs that it is ready, with its ports', async () => {
    const { server, api } = await start();
    expect(server.httpAddress).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    expect(server.grpcAddress).toMatch(/^127\.0\.0\.1:[1-9]\d*$/);
    expect(await api.get('/health')).toEqual({ status: 'ok' });
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('exits with code 0 on %s', async (signal) => {
    const { server } = await start();
    expect(await server.stop(signal)).toBe(0);
  });

  it('keeps its metadata and deltas from every other user', async () => {
    await start();
    const modeOf = (name: string) => statSync(join(state.directory, name)).mode & 0o777;
    expect(modeOf('metadata.json')).toBe(0o600);
    expect(['mounts/deltas', 'mounts/layers', 'codebases'].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
  });

  it('mounts nothing for the mock runtime', async () => {
    const { api } = await start();
    await api.create(await api.codebase());
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(state.directory);
  });

  it('with the state of another server is refused in one line, and the other is unaffected', async () => {
    const { api } = await start();
    const sandbox = await api.create(await api.codebase());
    await expect(start()).rejects.toThrow(
      /ended \(1\) before it was ready:\npaddock: another server runs on this state: [^\n]+$/,
    );
    expect((await api.sandbox(sandbox)).status).toBe('SANDBOX_RUNNING');
  });

  it('with only one path in common with another server is refused, too', async () => {
    await start();
    const storage = (own: string) => ({
      codebase_path: join(state.directory, own),
      db_path: join(state.directory, `${own}.json`),
    });
    await expect(start({ config: { storage: storage('other') } })).rejects.toThrow('mounts/.lock is locked');
  });

  it('creates exactly max_per_user of 50 concurrently requested sandboxes', async () => {
    const { api } = await start();
    const codebase = await api.codebase();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.post('/v1/sandboxes', { codebase_id: codebase })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
  });

  it('destroys expired sandboxes at the next cleanup', async () => {
    const { api } = await start({ config: { sandbox: { cleanup_interval: '250ms' } } });
    const id = await api.create(await api.codebase(), { expires_in: 1 });
    await expect.poll(async () => (await api.fetch(`/v1/sandboxes/${id}`)).status, { timeout: 30_000 }).toBe(404);
  });
});

describe('after kill -9', () => {
  it('every acknowledged change is kept', async () => {
    const first = await start();
    const codebase = await first.api.codebase();
    const [running, stopped, destroyed] = [
      await first.api.create(codebase),
      await first.api.create(codebase),
      await first.api.create(codebase),
    ];
    await first.api.post(`/v1/sandboxes/${stopped}/stop`, {});
    await first.api.fetch(`/v1/sandboxes/${destroyed}`, { method: 'DELETE' });
    expect(await first.server.stop('SIGKILL')).toBe('SIGKILL');

    const { api } = await start();
    expect((await api.sandbox(running)).status).toBe('SANDBOX_RUNNING');
    expect((await api.sandbox(stopped)).status).toBe('SANDBOX_STOPPED');
    expect((await api.fetch(`/v1/sandboxes/${destroyed}`)).status).toBe(404);
    expect((await api.post(`/v1/sandboxes/${running}/exec`, { command: 'true' })).status).toBe(200);
  });

  it('during many concurrent changes, every sandbox has its acknowledged or its requested state', async () => {
    const config = { sandbox: { max_per_user: 0 } };
    const model = new StormModel();
    let codebase = '';
    for (let round = 0; ; round++) {
      const { server, api } = await start({ config });
      codebase ||= await api.codebase();
      model.check(new Map((await api.sandboxes()).map((each) => [each.id, each])));
      if (round === 5) return;
      let killed = false;
      const clients = Array.from({ length: 8 }, async () => {
        while (!killed) await model.change(api, codebase).catch(() => undefined);
      });
      const goal = model.acknowledged + 40 + 7 * round;
      await expect.poll(() => model.acknowledged, { timeout: 60_000, interval: 2 }).toBeGreaterThan(goal);
      await server.stop('SIGKILL');
      killed = true;
      await Promise.all(clients);
    }
  });
});

describe('SIGTERM', () => {
  it('under load ends commands and exits with 0; RUNNING sandboxes are RUNNING after a restart', async () => {
    const first = await start();
    const id = await first.api.create(await first.api.codebase());
    const commands = Array.from({ length: 5 }, () =>
      first.api.post(`/v1/sandboxes/${id}/exec`, { command: 'sleep 30' }),
    );
    await expect.poll(() => first.api.get('/health')).toEqual({ status: 'ok' });
    expect(await first.server.stop('SIGTERM')).toBe(0);
    for (const { status } of await Promise.all(commands)) expect([200, 503]).toContain(status);
    const { api } = await start();
    expect((await api.sandbox(id)).status).toBe('SANDBOX_RUNNING');
  });

  it.each([0, 20, 60, 100, 150, 200, 300])(
    '%d ms into the start leaves a state that the next server starts on',
    async (delay) => {
      const config = await state.writeConfig('mock', {});
      const child = spawn(process.execPath, [BUNDLE, '-config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
      const said = Promise.all([text(child.stdout), text(child.stderr)]);
      await new Promise((resolve) => setTimeout(resolve, delay));
      child.kill('SIGTERM');
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      // Before Node runs the first line, the signal ends it as it ends any program.
      expect(code === 0 || signal === 'SIGTERM').toBe(true);
      expect((await said).join('')).not.toMatch(/defect|could not|paddock: /);
      await start();
    },
  );

  it('a second signal exits at once', async () => {
    const { server, api } = await start();
    const upload = await api.unfinishedUpload(await api.codebase());
    process.kill(server.pid, 'SIGTERM');
    await expect.poll(() => server.log.join()).toContain('shutting down');
    const again = setInterval(() => process.kill(server.pid, 'SIGTERM'), 100);
    expect(await server.stop('SIGTERM').finally(() => clearInterval(again))).toBe(1);
    upload.destroy();
    await start();
  });
});
