import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ExecResponse } from '../../lib/contract/messages.ts';
import { Server, State } from '../contract/server.ts';
import { type Daemon, startDaemon } from '../docker/daemon.ts';
import { importImage } from '../docker/images.ts';
import { Api } from '../server/api.ts';

const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];
const GRACE_MS = 5000;

let dockerd: Daemon;
let state: State;
let server: Server;
let api: Api;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'tools', {});
  state = await State.create();
  const docker = { host: dockerd.host, default_image: 'tools' };
  server = await Server.start(state, {
    config: { runtime: { docker, stop_grace: `${GRACE_MS}ms` }, sandbox: { max_per_user: 100 } },
  });
  api = new Api(server.httpAddress);
});
afterAll(async () => {
  await server?.stop();
  await state?.remove();
  await dockerd?.stop();
});

/** A script that removes its lock, and takes its time for it. */
const HOLDS = 'trap "sleep 0.1; echo cleaned up; rm lock; exit 3" TERM; : >lock; echo up';

describe.each(['RUNTIME_BWRAP', 'RUNTIME_DOCKER'])('%s', (runtime) => {
  const create = async () => api.create(await api.codebase(), { permissions: WRITE, runtime });
  const exec = async (id: string, more: object) => {
    const started = performance.now();
    const { status, body } = await api.post(`/v1/sandboxes/${id}/exec`, more);
    return { status, body: body as ExecResponse & { details: ExecResponse[] }, ms: performance.now() - started };
  };
  const ls = async (id: string) => (await exec(id, { command: 'ls -A' })).body.stdout;
  /** Processes of this test's sandboxes whose command line has the text. */
  const running = (text: string) => state.processes().filter((line) => line.includes(text));

  it('a timeout leaves no index.lock of git', async () => {
    const id = await create();
    // git waits for the filter with the lock of the index held.
    const command =
      'git init -q; git config filter.slow.clean "sleep 1000"; echo "* filter=slow" >.gitattributes; : >a; git add a';
    const { status } = await exec(id, { command, timeout: 1 });
    expect(status).toBe(504);
    expect((await exec(id, { command: 'ls .git/index.lock' })).body.exit_code).toBe(2);
  });

  it('a handler runs after a timeout, its output is in the answer, and nobody waits for the rest of the grace', async () => {
    const id = await create();
    const { status, body, ms } = await exec(id, { command: `${HOLDS}; sleep 1000 & wait`, timeout: 1 });
    expect([status, body.details[0]?.stdout]).toEqual([504, 'up\ncleaned up\n']);
    expect(ms).toBeLessThan(1000 + GRACE_MS);
    expect(await ls(id)).toBe('');
  });

  it('what ignores SIGTERM is killed after the grace, with all that it started', async () => {
    const id = await create();
    const ignores = "trap '' TERM; setsid sleep 7001 & (sleep 7001 &) ; while :; do sleep 7001; done";
    const { status, ms } = await exec(id, { command: ignores, timeout: 1 });
    expect(status).toBe(504);
    expect(ms).toBeGreaterThanOrEqual(1000 + GRACE_MS - 50);
    expect(running('sleep 7001')).toEqual([]);
  });

  it('a process that was stopped gets its signal', async () => {
    const id = await create();
    const { ms } = await exec(id, { command: `${HOLDS}; kill -STOP $$`, timeout: 1 });
    expect(ms).toBeLessThan(1000 + GRACE_MS);
    expect(await ls(id)).toBe('');
  });

  it('a client that disconnects does not wait, and a handler runs', async () => {
    const id = await create();
    const gone = new AbortController();
    const body = JSON.stringify({ command: `${HOLDS}; sleep 1000 & wait` });
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', body, headers, signal: gone.signal };
    const answer = api.fetch(`/v1/sandboxes/${id}/exec`, init).catch((error: Error) => error.name);
    await expect.poll(() => ls(id)).toBe('lock\n');
    gone.abort();
    expect(await answer).toBe('AbortError');
    await expect.poll(() => ls(id), { timeout: GRACE_MS }).toBe('');
  });

  it('a process that is deleted, and a command of a session, get the grace', async () => {
    const id = await create();
    const base = `/v1/sandboxes/${id}`;
    const started = await api.post(`${base}/processes`, { command: `${HOLDS}; sleep 1000 & wait` });
    const { process_id } = started.body as { process_id: string };
    await expect.poll(() => ls(id)).toBe('lock\n');
    await api.fetch(`${base}/processes/${process_id}`, { method: 'DELETE' });
    expect(await ls(id)).toBe('');

    const { id: session } = (await api.post(`${base}/sessions`, {})).body as { id: string };
    const late = await api.post(`/v1/sessions/${session}/exec`, { command: `${HOLDS}; sleep 1000 & wait`, timeout: 1 });
    expect(late.status).toBe(504);
    expect(await ls(id)).toBe('');
  });

  it('StopSandbox gives the grace to commands and to what earlier ones left', async () => {
    const id = await create();
    const command = `: >left.lock; (trap "sleep 0.1; rm left.lock; exit" TERM; sleep 1000 & wait) >/dev/null 2>&1 &`;
    await exec(id, { command });
    const during = exec(id, { command: `${HOLDS}; sleep 1000 & wait` });
    // A signal between fork(2) and execve(2) is lost in some shells.
    await expect.poll(() => running(': sleep 1000 ')).toHaveLength(2);
    expect(await ls(id)).toBe('left.lock\nlock\n');
    const before = performance.now();
    expect((await api.post(`/v1/sandboxes/${id}/stop`, {})).status).toBe(200);
    expect(performance.now() - before).toBeLessThan(GRACE_MS);
    expect((await during).status).toBe(503);
    await api.post(`/v1/sandboxes/${id}/start`, {});
    expect(await ls(id)).toBe('');
  });

  it('StopSandbox leaves a command that is being ended the rest of its grace', async () => {
    const id = await create();
    const command = 'trap "echo >ending; sleep 1; rm ending; exit" TERM; sleep 1000 & wait';
    const late = exec(id, { command, timeout: 1 });
    await expect.poll(() => ls(id), { timeout: GRACE_MS }).toBe('ending\n');
    expect((await api.post(`/v1/sandboxes/${id}/stop`, {})).status).toBe(200);
    expect((await late).status).toBe(504);
    await api.post(`/v1/sandboxes/${id}/start`, {});
    expect(await ls(id)).toBe('');
  });

  it('DestroySandbox kills at once', async () => {
    const id = await create();
    const during = exec(id, { command: "trap '' TERM; : >lock; while :; do sleep 7002; done" });
    await expect.poll(() => ls(id)).toBe('lock\n');
    const before = performance.now();
    await api.fetch(`/v1/sandboxes/${id}`, { method: 'DELETE' });
    expect(performance.now() - before).toBeLessThan(GRACE_MS);
    expect([(await during).status, running('sleep 7002')]).toEqual([503, []]);
  });
});
