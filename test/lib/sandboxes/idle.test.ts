import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { NewSandbox } from '../../../lib/services.ts';
import { createRequest, execRequest, Fixture, NO_UPDATE, never } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;

beforeEach(async () => {
  fixture = new Fixture();
  fixture.settings.defaultExpiration = 0;
  sandboxes = await fixture.start();
  await fixture.addCodebase();
});
afterEach(() => fixture.remove());

const create = (fields: Partial<NewSandbox> = {}) => sandboxes.create(createRequest({ idle_timeout: 60, ...fields }));
/** Shown to nobody, so that it is no use. */
const statusOf = ({ id }: Sandbox) => fixture.context.sandboxes.get(id)?.status ?? 'gone';
const use = ({ id }: Sandbox) => sandboxes.beginCall(id)!;
const exec = ({ id }: Sandbox) => sandboxes.exec(execRequest(id), never);

/** The check of each second up to `seconds`. */
async function checkAt(seconds: number): Promise<void> {
  fixture.elapsed = seconds * 1000;
  await sandboxes.endIdle();
}

describe('a sandbox with an idle timeout', () => {
  it('is stopped after that time without use, and no other', async () => {
    const [idle, other, without] = [
      await create(),
      await create({ idle_timeout: 61 }),
      await create({ idle_timeout: 0 }),
    ];
    await checkAt(0);
    await checkAt(59.9);
    expect(statusOf(idle)).toBe('SANDBOX_RUNNING');
    await checkAt(60);
    expect([idle, other, without].map(statusOf)).toEqual(['SANDBOX_STOPPED', 'SANDBOX_RUNNING', 'SANDBOX_RUNNING']);
    expect(fixture.metadata.sandboxes.get(idle.id)?.status).toBe('SANDBOX_STOPPED');
    expect(fixture.runtime.up.size).toBe(2);
    await checkAt(1e6);
    expect([idle, without].map(statusOf)).toEqual(['SANDBOX_STOPPED', 'SANDBOX_RUNNING']);
  });

  it('is in use until the last of its calls has ended', async () => {
    const sandbox = await create();
    await checkAt(0);
    const [first, second] = [use(sandbox), use(sandbox)];
    await checkAt(1000);
    first();
    first();
    await checkAt(2000);
    fixture.elapsed = 3_000_000;
    second();
    await checkAt(3059);
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
    await checkAt(3060);
    expect(statusOf(sandbox)).toBe('SANDBOX_STOPPED');
  });

  it('is not ended by a wall clock that is set', async () => {
    const sandbox = await create();
    await checkAt(0);
    fixture.wall += 365 * 86_400_000;
    await checkAt(59);
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
  });

  it('is counted anew when it is started again', async () => {
    const sandbox = await create();
    await checkAt(0);
    await checkAt(60);
    const started = use(sandbox);
    await sandboxes.start(sandbox.id);
    started();
    await checkAt(119);
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
    await checkAt(120);
    expect(statusOf(sandbox)).toBe('SANDBOX_STOPPED');
  });

  it('is counted anew after a restart of the server, from the time at which it runs again', async () => {
    const sandbox = await create();
    await checkAt(0);
    await checkAt(59);
    fixture.crash();
    sandboxes = await fixture.start();
    const resume = await sandboxes.recover();
    await checkAt(100);
    await checkAt(200);
    await resume();
    await checkAt(201);
    await checkAt(260);
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
    await checkAt(261);
    expect(statusOf(sandbox)).toBe('SANDBOX_STOPPED');
  });

  it('gets and loses its policy by an update, whose forks have it', async () => {
    const sandbox = await create({ idle_timeout: 0 });
    const nothing = { sandbox_id: sandbox.id, ...NO_UPDATE };
    const policy = { idle_timeout: 10, on_idle: 'destroy' } as const;
    expect(await sandboxes.update({ ...nothing, ...policy })).toEqual({ ...sandbox, warnings: [], ...policy });
    const fork = { ...createRequest(), sandbox_id: sandbox.id, count: 1, checkpoint: '' };
    const { idle_timeout: _, ...asParent } = fork;
    const [same] = await sandboxes.fork(asParent);
    const [other] = await sandboxes.fork({ ...fork, idle_timeout: 0, on_idle: 'stop' });
    expect([same?.sandbox, other?.sandbox]).toMatchObject([policy, { idle_timeout: 0, on_idle: 'stop' }]);
    expect(await sandboxes.update({ ...nothing, idle_timeout: 0, on_idle: '' })).toEqual({ ...sandbox, warnings: [] });
    await checkAt(0);
    await checkAt(1e6);
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
  });
});

describe('on_idle "destroy"', () => {
  it('destroys a sandbox in every state, with the reason', async () => {
    const [running, stopped] = [await create({ on_idle: 'destroy' }), await create({ on_idle: 'destroy' })];
    await sandboxes.stop(stopped.id);
    await checkAt(10);
    await checkAt(69);
    expect([statusOf(running), statusOf(stopped)]).toEqual(['SANDBOX_RUNNING', 'SANDBOX_STOPPED']);
    await checkAt(70.5);
    expect([statusOf(running), statusOf(stopped)]).toEqual(['gone', 'gone']);
    expect(fixture.metadata.sandboxes.size).toBe(0);
    const since = '2023-11-14T22:13:30Z and was destroyed at 2023-11-14T22:14:30Z';
    expect(() => sandboxes.get(running.id)).toThrow(
      `sandbox "${running.id}" no longer exists: it was idle since ${since} (idle_timeout, on_idle "destroy")`,
    );
  });

  it('tries again after a minute if it cannot be stored, and not each second', async () => {
    const sandbox = await create({ on_idle: 'destroy' });
    await checkAt(0);
    const { remove } = fixture.metadata.sandboxes;
    let tries = 0;
    fixture.metadata.sandboxes.remove = async () => {
      tries++;
      throw new Error('the disk is full');
    };
    await checkAt(60);
    await checkAt(61);
    await checkAt(119);
    expect([statusOf(sandbox), tries]).toEqual(['SANDBOX_RUNNING', 1]);
    fixture.metadata.sandboxes.remove = remove;
    await checkAt(120);
    expect(statusOf(sandbox)).toBe('gone');
  });
});

describe('a command that arrives while its idle sandbox is being ended', () => {
  /** Ends the idle sandbox up to the point at which its end is being stored. */
  async function whileStored(sandbox: Sandbox) {
    await checkAt(0);
    fixture.elapsed = 60_000;
    let fail = (_error: Error) => {};
    let finish = () => {};
    const held = new Promise<void>((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
    let storing = () => {};
    const reached = new Promise<void>((resolve) => {
      storing = resolve;
    });
    for (const operation of ['put', 'remove'] as const) {
      const real = fixture.metadata.sandboxes[operation].bind(fixture.metadata.sandboxes) as (
        _: unknown,
      ) => Promise<void>;
      fixture.metadata.sandboxes[operation] = async (argument: unknown) => {
        storing();
        await held;
        return real(argument);
      };
    }
    const ended = sandboxes.endIdle();
    await reached;
    const call = use(sandbox);
    const outcome = exec(sandbox).then(
      () => 'served',
      ({ code, message }: Error & { code: string }) => `${code}: ${message}`,
    );
    const commands = () => fixture.runtime.up.get(sandbox.id)?.commands.length ?? 0;
    expect(commands()).toBe(0);
    return { ended, outcome, finish, fail, call, commands };
  }

  it('gets the code of a stopped sandbox, and is not started', async () => {
    const sandbox = await create();
    const { ended, outcome, finish } = await whileStored(sandbox);
    finish();
    expect(await outcome).toBe(`FAILED_PRECONDITION: sandbox ${sandbox.id} is stopped`);
    await ended;
  });

  it('gets NOT_FOUND with the reason if the sandbox is destroyed', async () => {
    const sandbox = await create({ on_idle: 'destroy' });
    const { ended, outcome, finish } = await whileStored(sandbox);
    finish();
    expect(await outcome).toMatch(/^NOT_FOUND: sandbox "sb_\w+" no longer exists: it was idle since /);
    await ended;
  });

  it('is served if the stop cannot be stored', async () => {
    const sandbox = await create();
    const { ended, outcome, fail, commands } = await whileStored(sandbox);
    fail(new Error('the disk is full'));
    expect(await outcome).toBe('served');
    expect(commands()).toBe(1);
    await ended;
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
  });
});

it('a call that begins before the turn of an idle sandbox keeps it', async () => {
  const sandbox = await create();
  await checkAt(0);
  fixture.elapsed = 60_000;
  let free = () => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  const busy = fixture.context.change(sandbox.id, () => held);
  const ended = sandboxes.endIdle();
  const call = use(sandbox);
  free();
  await Promise.all([busy, ended]);
  await exec(sandbox);
  expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
  call();
});

it('a stop that takes long delays no other, and is not begun twice', async () => {
  const [slow, quick] = [await create(), await create({ idle_timeout: 61 })];
  await checkAt(0);
  let free = () => {};
  const held = new Promise<void>((resolve) => {
    free = resolve;
  });
  fixture.runtime.beforeStop = () => held;
  fixture.elapsed = 60_000;
  const first = sandboxes.endIdle();
  await expect.poll(() => fixture.runtime.stops.length).toBe(1);
  fixture.runtime.beforeStop = async () => {};
  await checkAt(61);
  expect([statusOf(quick), fixture.runtime.stops.length]).toEqual(['SANDBOX_STOPPED', 2]);
  free();
  await first;
  expect(statusOf(slow)).toBe('SANDBOX_STOPPED');
});

it('sandboxes of a server without idle policies have none', async () => {
  const { id } = await create();
  const {
    idle_timeout: _,
    on_idle: __,
    on_expire: ___,
    destroy_at: ____,
    ...earlier
  } = fixture.metadata.sandboxes.get(id)!;
  await fixture.metadata.sandboxes.put(earlier as Parameters<typeof fixture.metadata.sandboxes.put>[0]);
  fixture.crash();
  sandboxes = await fixture.start();
  await (await sandboxes.recover())();
  expect(sandboxes.get(id)).toMatchObject({
    idle_timeout: 0,
    on_idle: 'stop',
    on_expire: 'keep_changes',
    destroy_at: 0,
    status: 'SANDBOX_RUNNING',
  });
  await checkAt(1e6);
  expect(sandboxes.get(id).status).toBe('SANDBOX_RUNNING');
});
