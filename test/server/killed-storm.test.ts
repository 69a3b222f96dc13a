import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Server, State } from '../contract/server.ts';
import { Api } from './api.ts';
import { StormModel } from './storm-model.ts';

/** 200 in the runs that the issue of a release asks for. */
const KILLS = Number(process.env.PADDOCK_KILLS ?? 3);
const CLIENTS = 6;
const READY = 3;
const FEWEST = 6;
/** Each change of a record is as large, so that the metadata are compacted every few kills. */
const ENV = { LARGE: 'x'.repeat(60_000) };

let state: State;
let server: Server | undefined;

beforeEach(async () => {
  state = await State.create();
});
afterEach(async () => {
  await server?.stop();
  expect(await state.leftovers()).toEqual([]);
  await state.remove();
});

/** Names of the cgroups of sandboxes; those of shells made ahead are no sandboxes'. */
function cgroups(dir = '/sys/fs/cgroup', depth = 3): string[] {
  if (depth === 0 || !existsSync(dir)) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      name === `paddock-${state.name}` ? readdirSync(join(dir, name)) : cgroups(join(dir, name), depth - 1),
    )
    .filter((name) => /^(sb_|ready-)/.test(name));
}

/** The processes of users of sandboxes, by user. */
const users = () => new Set(state.processes().map((each) => / of uid (\d+):/.exec(each)![1]));

const mounts = () =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(state.directory) || line.includes(state.name))
    .map((line) => line.split(' ')[4])
    .sort();

it('has after each kill -9 what was acknowledged, and nothing of a sandbox that it does not have', {
  timeout: 60_000 + KILLS * 30_000,
}, async () => {
  const model = new StormModel(FEWEST, { env: ENV });
  const config = { runtime: { ready: READY }, sandbox: { max_per_user: 0 } };
  let codebase = '';
  for (let kill = 0; ; kill++) {
    server = await Server.start(state, { config });
    const api = new Api(server.httpAddress);
    codebase ||= await api.codebase();
    const sandboxes = await api.sandboxes();
    const running = sandboxes.filter(({ status }) => status === 'SANDBOX_RUNNING');
    model.check(new Map(sandboxes.map((each) => [each.id, each])));
    // None is made ahead before the first creation: each process, cgroup and mount is of a sandbox that is known to run.
    const known = new Set(running.map(({ id }) => id));
    expect(cgroups().filter((name) => !known.has(name))).toEqual([]);
    expect(users().size, `kill ${kill}`).toBe(running.length);
    const agents = running.length > 0 ? [`/run/paddock/agents-${state.name}`] : [];
    expect(mounts(), `kill ${kill}`).toEqual([...agents, join(state.directory, 'mounts/fs')]);
    const some = running[kill % Math.max(1, running.length)];
    if (some) expect((await api.post(`/v1/sandboxes/${some.id}/exec`, { command: 'true' })).status).toBe(200);
    if (kill === KILLS) break;
    let killed = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!killed) await model.change(api, codebase).catch(() => undefined);
    });
    const goal = model.acknowledged + 15 + ((kill * 7919) % 40);
    await expect.poll(() => model.acknowledged, { timeout: 60_000, interval: 1 }).toBeGreaterThan(goal);
    await server.stop('SIGKILL');
    killed = true;
    await Promise.all(clients);
    expect(model.refused).toEqual([]);
  }
  expect(existsSync(join(state.directory, 'metadata.json.bak'))).toBe(true);
});
