import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { Deferred } from '../../../lib/fuse/connection/deferred.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import { BringUpOrder } from '../../../lib/sandboxes/lifecycle/bring-up-order.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { SandboxFilter } from '../../../lib/services.ts';
import { createRequest, execRequest, Fixture, never } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let sandbox: Sandbox;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  await fixture.addCodebase();
  sandbox = await sandboxes.create(createRequest());
});

afterEach(() => fixture.remove());

const statusOf = (id = sandbox.id) => sandboxes.get(id).status;
const recordOf = (id = sandbox.id) => fixture.metadata.sandboxes.get(id);
const fails = async () => {
  throw new ServiceError('UNAVAILABLE', 'no room');
};

async function broken(): Promise<void> {
  fixture.runtime.up.get(sandbox.id)!.die('the agent ended');
  await vi.waitUntil(() => statusOf() === 'SANDBOX_ERROR', { timeout: 30_000 });
}

describe('stop and start', () => {
  it('stop releases runtime and mount and keeps the files; start restores it with the same user', async () => {
    writeFileSync(join(fixture.layout.deltas, sandbox.id, 'file'), 'mine');
    expect(await sandboxes.stop(sandbox.id)).toEqual({ ...sandbox, warnings: [], status: 'SANDBOX_STOPPED' });
    expect(recordOf()?.status).toBe('SANDBOX_STOPPED');
    expect([fixture.runtime.up.size, fixture.mount.attached.size]).toEqual([0, 0]);
    expect(await sandboxes.start(sandbox.id)).toEqual({ ...sandbox, warnings: [] });
    expect(recordOf()?.status).toBe('SANDBOX_RUNNING');
    expect(fixture.runtime.up.get(sandbox.id)?.spec.uid).toBe(1000);
    expect(readdirSync(join(fixture.layout.deltas, sandbox.id))).toEqual(['file']);
  });

  it('are idempotent', async () => {
    expect((await sandboxes.start(sandbox.id)).status).toBe('SANDBOX_RUNNING');
    await sandboxes.stop(sandbox.id);
    expect((await sandboxes.stop(sandbox.id)).status).toBe('SANDBOX_STOPPED');
    expect(fixture.runtime.launches).toHaveLength(1);
  });

  it('of one sandbox are serialized', async () => {
    const outcomes = await Promise.all([
      sandboxes.stop(sandbox.id),
      sandboxes.start(sandbox.id),
      sandboxes.start(sandbox.id),
      sandboxes.stop(sandbox.id),
      sandboxes.start(sandbox.id),
    ]);
    expect(outcomes.map(({ status }) => status.replace('SANDBOX_', ''))).toEqual([
      'STOPPED',
      'RUNNING',
      'RUNNING',
      'STOPPED',
      'RUNNING',
    ]);
    expect([fixture.runtime.launches.length, fixture.runtime.up.size]).toEqual([3, 1]);
  });

  it('a failed start makes it SANDBOX_ERROR with the reason, and nothing runs', async () => {
    await sandboxes.stop(sandbox.id);
    fixture.runtime.before = fails;
    await expect(sandboxes.start(sandbox.id)).rejects.toMatchObject({ code: 'UNAVAILABLE', message: 'no room' });
    expect(sandboxes.get(sandbox.id)).toMatchObject({ status: 'SANDBOX_ERROR', status_reason: 'no room' });
    expect(recordOf()).toMatchObject({ status: 'SANDBOX_ERROR', status_reason: 'no room' });
    expect([fixture.runtime.up.size, fixture.mount.attached.size]).toEqual([0, 0]);
    await expect(sandboxes.stop(sandbox.id)).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    fixture.runtime.before = async () => {};
    expect(await sandboxes.start(sandbox.id)).toEqual({ ...sandbox, warnings: [] });
  });

  it('a start that cannot be stored leaves it SANDBOX_STOPPED, and nothing runs', async () => {
    await sandboxes.stop(sandbox.id);
    await fixture.metadata.close();
    await expect(sandboxes.start(sandbox.id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([statusOf(), fixture.runtime.up.size, fixture.mount.attached.size]).toEqual(['SANDBOX_STOPPED', 0, 0]);
  });

  it('a start is not visible as SANDBOX_RUNNING before it is stored', async () => {
    await sandboxes.stop(sandbox.id);
    const { put } = fixture.metadata.sandboxes;
    const seen: string[] = [];
    fixture.metadata.sandboxes.put = (record) => {
      seen.push(`${record.status} over ${statusOf()}`);
      return put.call(fixture.metadata.sandboxes, record);
    };
    await sandboxes.start(sandbox.id);
    expect(seen).toEqual(['SANDBOX_RUNNING over SANDBOX_PENDING']);
  });

  it('a stop that cannot be stored changes nothing', async () => {
    await fixture.metadata.close();
    await expect(sandboxes.stop(sandbox.id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([statusOf(), fixture.runtime.up.size]).toEqual(['SANDBOX_RUNNING', 1]);
  });

  it('do not show internals of a defect in status_reason', async () => {
    await sandboxes.stop(sandbox.id);
    fixture.runtime.before = async () => {
      throw new Error('ENOENT /secret/path');
    };
    await expect(sandboxes.start(sandbox.id)).rejects.toThrow();
    expect(sandboxes.get(sandbox.id).status_reason).toBe('internal error');
  });
});

describe('a runtime that exited by itself', () => {
  it('makes the sandbox SANDBOX_ERROR with the reason, durably; start restores it', async () => {
    await broken();
    expect(sandboxes.get(sandbox.id).status_reason).toBe('the agent ended');
    await vi.waitUntil(() => recordOf()?.status === 'SANDBOX_ERROR', { timeout: 30_000 });
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `sandbox ${sandbox.id} is in error: the agent ended`,
    });
    expect(await sandboxes.start(sandbox.id)).toEqual({ ...sandbox, warnings: [] });
  });

  it('refuses a command that arrives while it is taken down, with the reason', async () => {
    const stopping = new Deferred<void>();
    const stopped = new Deferred<void>();
    fixture.runtime.beforeStop = async () => {
      stopping.resolve();
      await stopped.promise;
    };
    fixture.runtime.up.get(sandbox.id)!.die('every process was killed');
    await stopping.promise;
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `sandbox ${sandbox.id} is in error: every process was killed`,
    });
    stopped.resolve();
  });

  it('of an earlier run has no effect on the present one', async () => {
    const { die } = fixture.runtime.up.get(sandbox.id)!;
    await sandboxes.stop(sandbox.id);
    await sandboxes.start(sandbox.id);
    die('late');
    await sandboxes.start(sandbox.id);
    expect(statusOf()).toBe('SANDBOX_RUNNING');
  });
});

describe('a workspace file system that failed', () => {
  const REASON = 'the workspace file system died: worker ended';
  let back: () => void;

  /** Until `back`, nothing is mounted. */
  function die(): void {
    fixture.mount.attached.clear();
    const mounted = new Promise<void>((resolve) => {
      back = resolve;
    });
    sandboxes.workspacesLost('worker ended', mounted);
  }

  it('ends the commands of every sandbox on it at once, and restarts the sandboxes with the reason once remounted', async () => {
    const mock = await sandboxes.create(createRequest({ runtime: 'RUNTIME_MOCK' }));
    const stopped = await sandboxes.create(createRequest());
    await sandboxes.stop(stopped.id);
    fixture.runtime.stops.length = 0;
    die();
    expect(fixture.runtime.stops).toEqual([REASON]);
    const waiting = sandboxes.exec(execRequest(sandbox.id), never);
    back();
    await waiting;
    expect(sandboxes.get(sandbox.id)).toEqual({
      ...sandbox,
      warnings: [],
      status_reason: `it was brought up again: ${REASON}`,
    });
    expect([...fixture.mount.attached.keys()]).toEqual([sandbox.id]);
    expect(fixture.runtime.launches.filter((id) => id !== sandbox.id)).toEqual([mock.id, stopped.id]);
    expect([statusOf(mock.id), statusOf(stopped.id)]).toEqual(['SANDBOX_RUNNING', 'SANDBOX_STOPPED']);
    await sandboxes.stop(sandbox.id);
    expect(sandboxes.get(sandbox.id).status_reason).toBe('');
  });

  it('makes a command wait that comes while the processes of the sandbox are being ended', async () => {
    let ended = () => {};
    const ending = new Promise<void>((resolve) => {
      ended = resolve;
    });
    fixture.runtime.beforeStop = () => ending;
    fixture.runtime.stops.length = 0;
    die();
    back();
    // The second stop is that of the restart.
    await vi.waitUntil(() => fixture.runtime.stops.length === 2, { timeout: 30_000 });
    const waiting = sandboxes.exec(execRequest(sandbox.id), never);
    waiting.catch(() => undefined);
    ended();
    await waiting;
    expect(fixture.runtime.launches.filter((id) => id === sandbox.id)).toHaveLength(2);
  });

  it('makes a sandbox that cannot be restarted SANDBOX_ERROR with the reason', async () => {
    fixture.mount.before = async () => {
      throw new ServiceError('UNAVAILABLE', 'it died twice while it served this sandbox');
    };
    die();
    back();
    await vi.waitUntil(() => statusOf() === 'SANDBOX_ERROR', { timeout: 30_000 });
    expect(sandboxes.get(sandbox.id).status_reason).toBe('it died twice while it served this sandbox');
    await vi.waitUntil(() => recordOf()?.status === 'SANDBOX_ERROR', { timeout: 30_000 });
  });

  it('during a launch has the launch repeated on the next mount', async () => {
    let launches = 0;
    fixture.runtime.before = async ({ id }) => {
      if (id === sandbox.id || ++launches > 1) return;
      die();
      back();
      throw new ServiceError('UNAVAILABLE', 'no such directory');
    };
    const other = await sandboxes.create(createRequest());
    expect([launches, statusOf(other.id)]).toEqual([2, 'SANDBOX_RUNNING']);
  });

  it('after a launch, before the record is stored, restarts the new sandbox', async () => {
    let stored = () => {};
    const held = new Promise<void>((resolve) => {
      stored = resolve;
    });
    vi.spyOn(fixture.metadata.sandboxes, 'put').mockReturnValueOnce(held);
    const creating = sandboxes.create(createRequest());
    await vi.waitUntil(() => fixture.runtime.up.size === 2, { timeout: 30_000 });
    const id = fixture.runtime.launches.at(-1)!;
    await vi.waitUntil(() => fixture.mount.attached.has(id), { timeout: 30_000 });
    await new Promise((resolve) => setImmediate(resolve));
    die();
    stored();
    back();
    await creating;
    await sandboxes.exec(execRequest(id), never);
    expect(fixture.mount.attached.has(id)).toBe(true);
    expect(fixture.runtime.launches.filter((each) => each === id)).toHaveLength(2);
  });

  it('does not restart a sandbox that is stopped or destroyed meanwhile', async () => {
    const other = await sandboxes.create(createRequest());
    const stopping = sandboxes.stop(sandbox.id);
    const destroying = sandboxes.destroy(other.id);
    die();
    back();
    await Promise.all([stopping, destroying]);
    await vi.waitUntil(() => !fixture.context.sandboxes.has(other.id), { timeout: 30_000 });
    await sandboxes.explainPermission(sandbox.id, 'a');
    await fixture.context.find(sandbox.id).queue.run(async () => undefined);
    expect([statusOf(), fixture.runtime.up.size, fixture.mount.attached.size]).toEqual(['SANDBOX_STOPPED', 0, 0]);
    expect((await sandboxes.start(sandbox.id)).status).toBe('SANDBOX_RUNNING');
  });
});

describe('a sandbox that ended by itself', () => {
  it('is SANDBOX_ERROR and refuses commands with the reason while its remains are being removed', async () => {
    let proceed = () => {};
    fixture.runtime.beforeStop = () => new Promise((resolve) => (proceed = resolve));
    fixture.runtime.up.get(sandbox.id)!.die('the agent ended');
    await vi.waitUntil(() => fixture.runtime.stops.length === 1, { timeout: 30_000 });
    expect(statusOf()).toBe('SANDBOX_ERROR');
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `sandbox ${sandbox.id} is in error: the agent ended`,
    });
    const starting = sandboxes.start(sandbox.id);
    fixture.runtime.beforeStop = async () => {};
    proceed();
    expect((await starting).status).toBe('SANDBOX_RUNNING');
  });
});

describe('destroy', () => {
  it.each(['SANDBOX_RUNNING', 'SANDBOX_STOPPED', 'SANDBOX_ERROR'])('from %s leaves nothing', async (status) => {
    if (status === 'SANDBOX_STOPPED') await sandboxes.stop(sandbox.id);
    if (status === 'SANDBOX_ERROR') await broken();
    await sandboxes.destroy(sandbox.id);
    expect(() => sandboxes.get(sandbox.id)).toThrow('does not exist');
    expect([fixture.runtime.up.size, fixture.mount.attached.size, recordOf()]).toEqual([0, 0, undefined]);
    expect(readdirSync(fixture.layout.deltas)).toEqual([]);
    await expect(sandboxes.destroy(sandbox.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('waits for a sandbox that is being created', async () => {
    let proceed = () => {};
    fixture.runtime.before = () => new Promise((resolve) => (proceed = resolve));
    const creating = sandboxes.create(createRequest());
    await vi.waitUntil(() => fixture.runtime.launches.length === 2, { timeout: 30_000 });
    const id = fixture.runtime.launches[1]!;
    expect(statusOf(id)).toBe('SANDBOX_PENDING');
    const destroying = sandboxes.destroy(id);
    proceed();
    expect((await creating).status).toBe('SANDBOX_RUNNING');
    await destroying;
    expect(fixture.runtime.up.has(id)).toBe(false);
  });

  it('happens once if requested twice concurrently, also by the cleanup', async () => {
    fixture.elapsed = 3_600_000;
    const outcomes = await Promise.allSettled([
      sandboxes.destroy(sandbox.id),
      sandboxes.expire(),
      sandboxes.destroy(sandbox.id),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(outcomes[2]).toMatchObject({ reason: { code: 'NOT_FOUND' } });
  });

  it('that cannot be stored changes nothing', async () => {
    await fixture.metadata.close();
    await expect(sandboxes.destroy(sandbox.id)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect([statusOf(), fixture.runtime.up.size]).toEqual(['SANDBOX_RUNNING', 1]);
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).resolves.toBeDefined();
  });

  it('refuses commands and access to files while it takes place', async () => {
    let proceed = () => {};
    fixture.runtime.beforeStop = () => new Promise((resolve) => (proceed = resolve));
    const destroying = sandboxes.destroy(sandbox.id);
    await vi.waitUntil(() => fixture.runtime.stops.length === 1, { timeout: 30_000 });
    const refusal = { code: 'FAILED_PRECONDITION', message: `sandbox ${sandbox.id} is being destroyed` };
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject(refusal);
    await expect(sandboxes.statFile({ sandbox_id: sandbox.id, path: 'file', as: 'owner' })).rejects.toMatchObject(
      refusal,
    );
    proceed();
    await destroying;
  });

  it('whose delta cannot be removed reserves its user until a cleanup removes it', async () => {
    fixture.removeTree = async () => {
      throw new Error('EBUSY');
    };
    await sandboxes.destroy(sandbox.id);
    expect(() => sandboxes.get(sandbox.id)).toThrow('does not exist');
    expect(fixture.context.uids.reserve(1000)).toBe(false);
    fixture.removeTree = async () => {};
    await sandboxes.expire();
    expect(fixture.context.uids.reserve(1000)).toBe(true);
  });
});

describe('a checkpoint', () => {
  it('is refused if the sandbox has the maximum of them', async () => {
    const checkpoint = { created_at: 0, files: 0, bytes: 0, layer: 'layer' };
    const checkpoints = Array.from({ length: 100 }, (_, index) => ({ ...checkpoint, name: `c${index}` }));
    await fixture.context.find(sandbox.id).update({ checkpoints }, fixture.metadata.sandboxes);
    await expect(sandboxes.createCheckpoint(sandbox.id, 'more')).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: `sandbox ${sandbox.id} has 100 checkpoints, the maximum`,
    });
  });
});

describe('exec', () => {
  it('runs the command of the request with the default timeout', async () => {
    await sandboxes.exec(
      execRequest(sandbox.id, { command: 'ls', stdin: 'in', env: { A: 'b' }, workdir: 'src' }),
      never,
    );
    await sandboxes.exec(execRequest(sandbox.id, { timeout: 600 }), never);
    const { commands } = fixture.runtime.up.get(sandbox.id)!;
    expect(commands[0]).toEqual({
      command: 'ls',
      shell: '',
      merge: false,
      ownWorkdir: false,
      stdin: 'in',
      env: { A: 'b' },
      workdir: 'src',
      timeoutMs: 30_000,
      signal: never,
    });
    expect(commands[1]?.timeoutMs).toBe(600_000);
  });

  it('on a stopped sandbox is FAILED_PRECONDITION naming the state', async () => {
    await sandboxes.stop(sandbox.id);
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `sandbox ${sandbox.id} is stopped`,
    });
  });

  it('is refused from the moment the sandbox expires', async () => {
    fixture.elapsed = 3_600_000 - 1;
    await sandboxes.exec(execRequest(sandbox.id), never);
    fixture.elapsed += 1;
    await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `sandbox ${sandbox.id} has expired`,
    });
  });

  it('of a disconnected client starts nothing', async () => {
    await expect(sandboxes.exec(execRequest(sandbox.id), AbortSignal.abort())).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(fixture.runtime.up.get(sandbox.id)?.commands).toEqual([]);
  });

  it('refuses a timeout above the maximum', async () => {
    await expect(sandboxes.exec(execRequest(sandbox.id, { timeout: 601 }), never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'timeout must be at most 600 seconds (runtime.max_timeout), not 601',
    });
  });

  it('of an unknown sandbox is NOT_FOUND', async () => {
    await expect(sandboxes.exec(execRequest('sb_no'), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('expire', () => {
  it('destroys what has expired and nothing else', async () => {
    const later = await sandboxes.create(createRequest({ expires_in: 7200 }));
    fixture.elapsed = 3_600_000;
    await sandboxes.expire();
    expect(() => sandboxes.get(sandbox.id)).toThrow('no longer exists: it expired at ');
    expect(statusOf(later.id)).toBe('SANDBOX_RUNNING');
  });

  it('continues after one that fails', async () => {
    const other = await sandboxes.create(createRequest());
    fixture.removeTree = async (path) => {
      if (path.endsWith(sandbox.id)) throw new Error('EIO');
    };
    fixture.elapsed = 3_600_000;
    await sandboxes.expire();
    expect(() => sandboxes.get(other.id)).toThrow('no longer exists: it expired at ');
    expect(recordOf(other.id)).toBeUndefined();
  });

  it.each([1, -1])('destroys nothing for one period after the clock jumped by %d year', async (years) => {
    const brief = await sandboxes.create(createRequest({ expires_in: 60 }));
    fixture.elapsed = 61_000;
    fixture.wall += years * 365 * 86_400_000;
    await sandboxes.expire();
    expect(statusOf(brief.id)).toBe('SANDBOX_RUNNING');
    if (years < 0) return;
    await sandboxes.expire();
    expect(() => sandboxes.get(brief.id)).toThrow('no longer exists: it expired at ');
  });

  it('is not delayed by time that passed normally', async () => {
    fixture.elapsed = 86_400_000;
    await sandboxes.expire();
    expect(() => sandboxes.get(sandbox.id)).toThrow('no longer exists: it expired at ');
  });
});

describe('list', () => {
  it('returns the sandboxes of one codebase, in pages, the newest first', async () => {
    await fixture.addCodebase('cb_2');
    const others = [];
    for (let n = 0; n < 3; n++) others.push((await sandboxes.create(createRequest({ codebase_id: 'cb_2' }))).id);
    const first = sandboxes.list({ codebase_id: 'cb_2', page_size: 2, page_token: '' });
    const second = sandboxes.list({ codebase_id: 'cb_2', page_size: 2, page_token: first.next_page_token });
    expect([...first.sandboxes, ...second.sandboxes].map(({ id }) => id)).toEqual(others.sort().reverse());
    expect(second.next_page_token).toBe('');
    expect(sandboxes.list({ codebase_id: '', page_size: 100, page_token: '' }).sandboxes).toHaveLength(4);
  });

  it('has the sandboxes that match the status and all labels', async () => {
    const labels = { team: 'a', 'app.example/name': 'x', __proto__: null } as unknown as Record<string, string>;
    const both = await sandboxes.create(createRequest({ labels }));
    const one = await sandboxes.create(createRequest({ labels: { team: 'a', empty: '' } }));
    await sandboxes.stop(both.id);
    const found = (filter: Partial<SandboxFilter>) => {
      const page = { codebase_id: '', page_size: 100, page_token: '' };
      return sandboxes.list({ ...page, ...filter }).sandboxes.map(({ id }) => id);
    };
    expect(found({ labels: { team: 'a' } }).sort()).toEqual([both.id, one.id].sort());
    expect(found({ labels: { team: 'a', 'app.example/name': 'x' } })).toEqual([both.id]);
    expect(found({ labels: { team: 'a', 'app.example/name': 'y' } })).toEqual([]);
    expect(found({ labels: { empty: '' } })).toEqual([one.id]);
    expect(found({ labels: { toString: '' } })).toEqual([]);
    expect(found({ status: 'SANDBOX_STOPPED' })).toEqual([both.id]);
    expect(found({ status: 'SANDBOX_RUNNING', labels: { team: 'a' } })).toEqual([one.id]);
    expect(found({ status: 'SANDBOX_ERROR' })).toEqual([]);
    expect(found({ owner_id: 'bob' })).toEqual([]);
  });

  it('refuses the page token of another filter', async () => {
    await sandboxes.create(createRequest());
    const list = (filter: Partial<SandboxFilter & { page_token: string }>) =>
      sandboxes.list({ codebase_id: '', page_size: 1, page_token: '', ...filter });
    const page_token = list({}).next_page_token;
    expect(list({ page_token }).sandboxes).toHaveLength(1);
    for (const filter of [{ labels: { a: '' } }, { status: 'SANDBOX_RUNNING' as const }, { owner_id: 'ann' }]) {
      expect(() => list({ ...filter, page_token })).toThrow('page_token must be the next_page_token');
    }
  });
});

describe('a restart', () => {
  async function restart(): Promise<() => Promise<void>> {
    fixture.crash();
    sandboxes = await fixture.start();
    return sandboxes.recover();
  }

  it('restarts the sandboxes that were RUNNING and no others', async () => {
    const stopped = await sandboxes.create(createRequest());
    await sandboxes.stop(stopped.id);
    const resume = await restart();
    expect(statusOf()).toBe('SANDBOX_PENDING');
    await resume();
    expect(sandboxes.get(sandbox.id)).toEqual({ ...sandbox, warnings: [] });
    expect(statusOf(stopped.id)).toBe('SANDBOX_STOPPED');
    expect(fixture.runtime.launches).toEqual([sandbox.id]);
    expect(fixture.runtime.up.get(sandbox.id)?.spec.uid).toBe(1000);
  });

  it('makes a command wait for its sandbox, wherever it is in the queue', async () => {
    await fixture.addCodebase('cb_2', 'bob');
    fixture.settings.owners = unlimitedOwners(0);
    for (let n = 0; n < 20; n++) await sandboxes.create(createRequest({ codebase_id: 'cb_2' }));
    const last = (await sandboxes.create(createRequest())).id;
    const resume = await restart();
    let most = 0;
    fixture.runtime.before = async () => {
      most = Math.max(most, fixture.runtime.launches.length - fixture.runtime.up.size);
      await vi.waitUntil(() => most >= 8, { timeout: 30_000 });
      await new Promise((resolve) => setImmediate(resolve));
    };
    const resuming = resume();
    await sandboxes.exec(execRequest(last), never);
    expect(fixture.runtime.up.get(last)?.commands).toHaveLength(1);
    await resuming;
    expect([fixture.runtime.up.size, most]).toEqual([22, 8]);
  });

  it('brings up what a call waits for before the others', async () => {
    fixture.settings.owners = unlimitedOwners(0);
    const ids = [sandbox.id];
    for (let n = 0; n < 19; n++) ids.push((await sandboxes.create(createRequest())).id);
    const resume = await restart();
    const arrivals = vi.spyOn(BringUpOrder.prototype, 'run');
    const hurries = vi.spyOn(BringUpOrder.prototype, 'hurry');
    onTestFinished(() => void vi.restoreAllMocks());
    const gates: Deferred<void>[] = [];
    fixture.runtime.before = () => {
      gates.push(new Deferred<void>());
      return gates.at(-1)!.promise;
    };
    const { launches } = fixture.runtime;
    const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 30_000, interval: 5 });
    const resuming = resume();
    await until(() => arrivals.mock.calls.length === 20 && launches.length === 8);
    // Both arrived late: without calls they would be brought up among the last.
    const awaited = [arrivals.mock.calls[17]![0], arrivals.mock.calls[19]![0]];
    const calls = [sandboxes.exec(execRequest(awaited[0]!), never), sandboxes.stop(awaited[1]!)];
    await until(() => awaited.every((id) => hurries.mock.calls.some(([hurried]) => hurried === id)));
    for (const gate of gates.slice(0, 2)) gate.resolve();
    await until(() => launches.length === 10);
    expect(launches.slice(8).sort()).toEqual(awaited.sort());
    fixture.runtime.before = async () => {};
    for (const gate of gates) gate.resolve();
    await Promise.all([resuming, ...calls]);
    expect([...launches].sort()).toEqual(ids.sort());
  });

  it('keeps one that cannot be started as SANDBOX_ERROR, and starts the others', async () => {
    const other = await sandboxes.create(createRequest());
    const resume = await restart();
    fixture.runtime.before = async ({ id }) => {
      if (id === sandbox.id) await fails();
    };
    await resume();
    expect(sandboxes.get(sandbox.id)).toMatchObject({ status: 'SANDBOX_ERROR', status_reason: 'no room' });
    expect(statusOf(other.id)).toBe('SANDBOX_RUNNING');
  });

  it('does not start an expired sandbox, and leaves it to the cleanup', async () => {
    fixture.elapsed = 3_600_000;
    await (await restart())();
    expect([statusOf(), fixture.runtime.launches]).toEqual(['SANDBOX_STOPPED', []]);
    await sandboxes.expire();
    expect(recordOf()).toBeUndefined();
  });

  it('removes deltas of sandboxes without a record, and nothing else', async () => {
    const orphan = 'sb_0123456789abcdefghjkmnpqr';
    mkdirSync(join(fixture.layout.deltas, orphan, 'deep'), { recursive: true });
    mkdirSync(join(fixture.layout.deltas, 'lost+found'));
    await (await restart())();
    await expect.poll(() => readdirSync(fixture.layout.deltas).sort()).toEqual(['lost+found', sandbox.id].sort());
  });

  it('without its metadata removes nothing', async () => {
    const own = readdirSync(fixture.folder).filter((name) => name.startsWith('db.json'));
    for (const name of own) rmSync(join(fixture.folder, name));
    await (await restart())();
    await sandboxes.expire();
    expect(readdirSync(fixture.layout.deltas)).toEqual([sandbox.id]);
  });

  it('does not give the user of an old sandbox to a new one', async () => {
    await (await restart())();
    const created = await sandboxes.create(createRequest());
    expect(fixture.runtime.up.get(created.id)?.spec.uid).toBe(1001);
  });

  it('with another range of host users gives users of it to the sandboxes, to each one of its own', async () => {
    const stopped = await sandboxes.create(createRequest());
    await sandboxes.stop(stopped.id);
    fixture.uids = { start: 5000, size: 3 };
    await (await restart())();
    const created = await sandboxes.create(createRequest());
    await sandboxes.start(stopped.id);
    const users = [sandbox, stopped, created].map(({ id }) => fixture.runtime.up.get(id)?.spec.uid);
    // Sandboxes of the same moment are read in no order.
    expect(users.slice(0, 2).sort()).toEqual([5000, 5001]);
    expect(users[2]).toBe(5002);
    const inBoth = users[0] === 5001 ? sandbox : stopped;
    // Its user is in both ranges, so it keeps it whatever the order of the records is.
    fixture.uids = { start: 5001, size: 4 };
    await (await restart())();
    expect(new Set([...fixture.runtime.up.values()].map(({ spec }) => spec.uid))).toEqual(new Set([5001, 5002, 5003]));
    expect(fixture.runtime.up.get(inBoth.id)?.spec.uid).toBe(5001);
  });

  it('gives a sandbox whose host user another one has a user of its own, as long as there is one', async () => {
    const other = await sandboxes.create(createRequest());
    const last = await sandboxes.create(createRequest());
    const stored = fixture.metadata.sandboxes.get(other.id)!;
    await fixture.metadata.sandboxes.put({ ...stored, uid: 1000 });
    await (await restart())();
    const users = [sandbox, other, last].map(({ id }) => fixture.runtime.up.get(id)?.spec.uid);
    // Sandboxes of the same moment are read in no order: either of the two keeps the user.
    expect(users).toEqual([expect.any(Number), expect.any(Number), 1002]);
    expect(users.slice(0, 2)).toContain(1000);
    expect(new Set(users).size).toBe(3);
    await sandboxes.destroy(last.id);
    await fixture.metadata.sandboxes.put({ ...stored, uid: 1000 });
    fixture.uids = { start: 1000, size: 1 };
    await (await restart())();
    const [broken] = [sandbox.id, other.id].filter((id) => !fixture.runtime.up.has(id));
    expect(sandboxes.get(broken!).status_reason).toMatch(/^every host user/);
    // The other one still has the only user.
    await sandboxes.destroy(broken!);
    await expect(sandboxes.create(createRequest())).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  it('with a range of fewer host users than sandboxes says so', async () => {
    const other = await sandboxes.create(createRequest());
    fixture.uids = { start: 5000, size: 1 };
    await (await restart())();
    expect(sandboxes.get(other.id)).toMatchObject({
      status: 'SANDBOX_ERROR',
      status_reason: 'every host user of runtime.uid_range is in use by a sandbox',
    });
  });

  it('makes a sandbox whose codebase is missing SANDBOX_ERROR with the reason', async () => {
    // As repaired by hand.
    await fixture.metadata.sandboxes.put({ ...fixture.metadata.sandboxes.get(sandbox.id)!, codebase_id: 'cb_2' });
    await (await restart())();
    expect(sandboxes.get(sandbox.id)).toMatchObject({ status: 'SANDBOX_ERROR', status_reason: 'its codebase is gone' });
  });

  it('after an orderly shutdown has the sandboxes RUNNING that were RUNNING', async () => {
    await sandboxes.close();
    expect(fixture.runtime.up.size).toBe(0);
    await (await restart())();
    expect(statusOf()).toBe('SANDBOX_RUNNING');
  });
});
