import { describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../lib/errors.ts';
import { newId } from '../../../../lib/ids.ts';
import { createMockRuntime } from '../../../../lib/runtime/mock/index.ts';
import type { MockShell } from '../../../../lib/runtime/mock/mock-shell.ts';
import type { RunningShell } from '../../../../lib/runtime/runtime.ts';
import { LiveSession } from '../../../../lib/sandboxes/sessions/live-session.ts';
import { SessionTable } from '../../../../lib/sandboxes/sessions/session-table.ts';
import type { SessionExecution } from '../../../../lib/session-services.ts';
import { RESOURCES } from '../../runtime/run.ts';

/** One for each command: a signal has a listener of each that waits. */
const never = () => new AbortController().signal;

const around = { shell: '', env: {}, workdir: '', ownWorkdir: false };

/** Sessions on sandboxes of the mock runtime, at a time that the test sets. */
function scene(limit = 200) {
  const clock = { now: 1000 };
  const table = new SessionTable(limit, () => clock.now);
  const launch = () =>
    createMockRuntime().launch({
      id: 'sb',
      workspace: '/w',
      home: '/h',
      runDir: '/r',
      uid: 1,
      image: '',
      resources: RESOURCES,
    });
  const running = launch();
  const create = (sandboxId: string) =>
    table.creating(sandboxId, async () => {
      const sandbox = await running;
      const shell = await sandbox.openShell({ ...around, signal: never() });
      const parts = { id: newId('se'), sandboxId, ownerId: 'ann', running: sandbox, around };
      return new LiveSession({ ...parts, now: () => clock.now, onClosed: (each) => table.closed(each) }, shell);
    });
  return { clock, table, create, running };
}

async function finish({ events, outcome }: SessionExecution) {
  let stdout = '';
  for await (const event of events) if (event.kind === 'output') stdout += event.data.toString();
  return { stdout, ...outcome() };
}

const exec = async (session: LiveSession, command: string, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  finish(await session.exec({ command, timeoutMs: 20_000, signal: never(), ...more }));

describe('a session', () => {
  it('runs its commands in order, and at most 64 wait', async () => {
    const { create } = scene();
    const session = await create('sb_1');
    const order: number[] = [];
    const first = exec(session, 'sleep 0.05').then(() => order.push(0));
    const waiting = Array.from({ length: 64 }, (_, index) =>
      exec(session, `echo ${index}`).then(({ stdout }) => order.push(Number(stdout) + 1)),
    );
    await expect(exec(session, 'true')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await Promise.all([first, ...waiting]);
    expect(order).toEqual(Array.from({ length: 65 }, (_, index) => index));
  });

  it('drops a command whose client leaves while it waits, and refuses those that wait when it ends', async () => {
    const { create } = scene();
    const session = await create('sb_1');
    const first = exec(session, 'sleep 0.05');
    const leaving = new AbortController();
    const dropped = expect(exec(session, 'exit 3', { signal: leaving.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    const last = exec(session, 'exit 4');
    const refused = expect(exec(session, 'true')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('its shell ended with exit code 4'),
    });
    leaving.abort();
    await Promise.all([dropped, first]);
    expect(await last).toMatchObject({ session_ended: true });
    await refused;
  });

  it('has a new shell after a timeout, which the next answer tells', async () => {
    const { create } = scene();
    const session = await create('sb_1');
    await expect(exec(session, 'sleep 5', { timeoutMs: 10 })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await exec(session, 'echo a')).toEqual({ stdout: 'a\n', session_ended: false, session_reset: true });
    expect(await exec(session, 'echo a')).toMatchObject({ session_reset: false });
  });

  it('ends with its sandbox, also while it has no shell', async () => {
    const { create, running } = scene();
    const [session, other] = [await create('sb_1'), await create('sb_1')];
    await expect(exec(other, 'sleep 5', { timeoutMs: 10 })).rejects.toBeInstanceOf(ServiceError);
    await (await running).stop();
    await expect(exec(other, 'true')).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    expect(session.view()).toMatchObject({ status: 'SESSION_CLOSED', status_reason: 'the sandbox was stopped' });
  });
});

describe('a session whose shell the server cannot replace', () => {
  it('stays, and the next command tries again', async () => {
    const { create, running } = scene();
    const sandbox = await running;
    const session = await create('sb_1');
    const busy = new ServiceError('UNAVAILABLE', 'its processes keep the shells that run commands from reading');
    const open = vi.spyOn(sandbox, 'openShell').mockRejectedValue(busy);
    await expect(exec(session, 'sleep 5', { timeoutMs: 10 })).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await expect(exec(session, 'true')).rejects.toBe(busy);
    expect(session.view()).toMatchObject({ status: 'SESSION_ACTIVE' });
    open.mockRestore();
    expect(await exec(session, 'echo a')).toMatchObject({ stdout: 'a\n', session_reset: true });
  });

  it('is not lost with a shell that the server lost', async () => {
    const { create, running } = scene();
    const shells: RunningShell[] = [];
    const sandbox = await running;
    const openShell = sandbox.openShell.bind(sandbox);
    vi.spyOn(sandbox, 'openShell').mockImplementation(async (request) => {
      shells.push(await openShell(request));
      return shells.at(-1)!;
    });
    const session = await create('sb_1');
    (shells[0] as MockShell).fail(new ServiceError('UNAVAILABLE', 'the server lost the command’s output'));
    expect(await exec(session, 'echo a')).toMatchObject({ stdout: 'a\n', session_reset: true });
    expect(shells).toHaveLength(2);
  });
});

describe('the table of sessions', () => {
  it('limits the active sessions of a sandbox, also those that are being created', async () => {
    const { create, table } = scene(2);
    const results = await Promise.allSettled([create('sb_1'), create('sb_1'), create('sb_1'), create('sb_2')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    await table.end('sb_1', 'the test ends');
    await create('sb_1');
  });

  it('knows the newest 64 that have ended for an hour', async () => {
    const { clock, create, table } = scene();
    const ended: LiveSession[] = [];
    for (let count = 0; count < 70; count++) {
      ended.push(await create('sb_1'));
      await ended.at(-1)!.close('the test ends');
    }
    const active = await create('sb_1');
    expect([...table.newestFirst('sb_1')]).toHaveLength(65);
    expect(() => table.find(ended[5]!.id)).toThrow('does not exist');
    expect(table.find(ended[6]!.id)).toBe(ended[6]);
    clock.now += 3600;
    expect([...table.newestFirst('sb_1')]).toEqual([active]);
    expect(table.get(ended[69]!.id)).toBeUndefined();
  });
});

it('ends a session that is being created when those of its sandbox are ended', async () => {
  const { clock, table, running } = scene();
  let opened = () => {};
  const opening = new Promise<void>((resolve) => {
    opened = resolve;
  });
  let session: LiveSession | undefined;
  const creating = table.creating('sb_1', async () => {
    await opening;
    const sandbox = await running;
    const shell = await sandbox.openShell({ ...around, signal: never() });
    const parts = { id: newId('se'), sandboxId: 'sb_1', ownerId: 'ann', running: sandbox, around };
    session = new LiveSession({ ...parts, now: () => clock.now, onClosed: (each) => table.closed(each) }, shell);
    return session;
  });
  await table.end('sb_1', 'the sandbox was rolled back');
  opened();
  await expect(creating).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: expect.stringContaining('the sandbox was rolled back'),
  });
  expect(session?.closedAt).toBeDefined();
  expect([...table.newestFirst('sb_1')]).toEqual([]);
});
