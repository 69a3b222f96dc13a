import { afterAll, beforeAll, expect, it } from 'vitest';
import { Server, State } from '../contract/server.ts';
import { Api } from '../server/api.ts';

const WRITE = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];
const IGNORES = "trap '' TERM; : >up; while :; do sleep 7003; done";

let state: State;
let server: Server | undefined;
beforeAll(async () => {
  state = await State.create();
});
afterAll(async () => {
  await server?.stop();
  await state?.remove();
});

it('the end of the server takes its own time, whatever grace the configuration or a stop gives', async () => {
  const config = { runtime: { stop_grace: '60s' } };
  server = await Server.start(state, { config });
  const api = new Api(server.httpAddress);
  const up = async () => {
    const id = await api.create(await api.codebase(), { permissions: WRITE });
    const command = api.post(`/v1/sandboxes/${id}/exec`, { command: IGNORES }).catch(() => undefined);
    const ls = async () => (await api.post(`/v1/sandboxes/${id}/exec`, { command: 'ls' })).body as { stdout: string };
    await expect.poll(async () => (await ls()).stdout).toBe('up\n');
    return { id, command };
  };
  const [running, stopping] = [await up(), await up()];
  const stop = api.post(`/v1/sandboxes/${stopping.id}/stop`, {}).catch(() => undefined);
  await expect.poll(() => api.get(`/v1/sandboxes/${stopping.id}`)).toMatchObject({ status: 'SANDBOX_STOPPED' });
  expect(await server.stop()).toBe(0);
  expect(server.log.filter((line) => line.includes('took too long'))).toEqual([]);
  await Promise.all([running.command, stopping.command, stop]);
  expect(state.processes().filter((line) => line.includes('sleep 7003'))).toEqual([]);
});
