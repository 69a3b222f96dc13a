import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { NewSandbox, SandboxUpdate } from '../../../lib/services.ts';
import { sealedLine } from '../../../lib/workspaces/delta/index/journal-lines.ts';
import { createRequest, execRequest, Fixture, NO_UPDATE, never } from './fixture.ts';

const T0 = 1_700_000_000;

let fixture: Fixture;
let sandboxes: SandboxKeeper;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  await fixture.addCodebase();
});
afterEach(() => fixture.remove());

const create = (fields: Partial<NewSandbox> = {}) => sandboxes.create(createRequest({ expires_in: 60, ...fields }));
const statusOf = ({ id }: Sandbox) => fixture.context.sandboxes.get(id)?.status ?? 'gone';
const exec = ({ id }: Sandbox) => sandboxes.exec(execRequest(id), never);
const update = ({ id }: Sandbox, fields: Partial<SandboxUpdate>) =>
  sandboxes.update({ sandbox_id: id, ...NO_UPDATE, ...fields });

/** Gives a sandbox a change, as a command does. */
function change({ id }: Sandbox): void {
  const delta = join(fixture.layout.deltas, id);
  mkdirSync(delta, { recursive: true });
  const header = ['paddock-delta', 4, 2, 2 ** 48, `${id}.0`, [], '', 0];
  writeFileSync(join(delta, 'journal'), sealedLine(header, 0).line);
  fixture.mount.changed.add(id);
}

async function cleanAt(seconds: number): Promise<void> {
  fixture.elapsed = seconds * 1000;
  await sandboxes.expire();
}

describe('an expired sandbox', () => {
  it('is stopped and kept by default if it has uncommitted changes, running or stopped, and destroyed otherwise', async () => {
    const [changed, stopped, unchanged, committed] = [await create(), await create(), await create(), await create()];
    for (const each of [changed, stopped, committed]) change(each);
    fixture.mount.changed.delete(committed.id);
    await sandboxes.stop(stopped.id);
    await cleanAt(59);
    expect([changed, unchanged].map(statusOf)).toEqual(['SANDBOX_RUNNING', 'SANDBOX_RUNNING']);
    await cleanAt(60);
    expect([changed, stopped, unchanged, committed].map(statusOf)).toEqual([
      'SANDBOX_STOPPED',
      'SANDBOX_STOPPED',
      'gone',
      'gone',
    ]);
    const kept = { status: 'SANDBOX_STOPPED', destroy_at: T0 + 60 + 7200, expires_soon: true };
    expect([sandboxes.get(changed.id), sandboxes.get(stopped.id)]).toMatchObject([kept, kept]);
    expect([fixture.runtime.up.size, fixture.mount.attached.size]).toEqual([0, 0]);
  });

  it('is kept for as long if the server was down at that time', async () => {
    const sandbox = await create();
    change(sandbox);
    await cleanAt(10_000);
    expect(sandboxes.get(sandbox.id).destroy_at).toBe(T0 + 10_000 + 7200);
    await cleanAt(10_001);
    expect(statusOf(sandbox)).toBe('SANDBOX_STOPPED');
  });

  it('is kept if its changes cannot be read, or if it has a checkpoint', async () => {
    const [damaged, saved] = [await create(), await create()];
    await sandboxes.createCheckpoint(saved.id, 'one');
    change(damaged);
    fixture.mount.hasEntries = async () => {
      throw new Error('no disk');
    };
    await cleanAt(60);
    expect([damaged, saved].map(statusOf)).toEqual(['SANDBOX_STOPPED', 'SANDBOX_STOPPED']);
  });

  it('ends as its on_expire says, without a look at its changes', async () => {
    const [destroyed, stopped] = [await create({ on_expire: 'destroy' }), await create({ on_expire: 'stop' })];
    change(destroyed);
    expect([destroyed.on_expire, stopped.on_expire]).toEqual(['destroy', 'stop']);
    await cleanAt(60);
    expect([destroyed, stopped].map(statusOf)).toEqual(['gone', 'SANDBOX_STOPPED']);
    expect(() => sandboxes.get(destroyed.id)).toThrow(/it expired at .* and was destroyed/);
  });

  it('has no process left when its changes are looked for', async () => {
    const sandbox = await create();
    change(sandbox);
    let up = -1;
    fixture.mount.hasEntries = async () => {
      up = fixture.runtime.up.size;
      return true;
    };
    await cleanAt(60);
    expect(up).toBe(0);
  });
});

describe('a sandbox that was kept', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await create();
    change(sandbox);
    await cleanAt(60);
  });

  it('says how it is used again, and runs again after an update and a start', async () => {
    const message = `sandbox ${sandbox.id} has expired, and was stopped and is kept until 2023-11-15T00:14:20Z: give it a new expires_in by UpdateSandbox, then start it`;
    const refused = { code: 'FAILED_PRECONDITION', message };
    await expect(exec(sandbox)).rejects.toMatchObject(refused);
    await expect(sandboxes.start(sandbox.id)).rejects.toMatchObject(refused);
    expect((await update(sandbox, { labels: { a: 'b' } })).destroy_at).toBe(T0 + 7260);
    expect(await update(sandbox, { expires_in: 10_000 })).toMatchObject({
      expires_at: T0 + 60 + 10_000,
      expires_soon: false,
      destroy_at: 0,
      status: 'SANDBOX_STOPPED',
    });
    await sandboxes.start(sandbox.id);
    await exec(sandbox);
    await cleanAt(7260);
    expect(statusOf(sandbox)).toBe('SANDBOX_RUNNING');
  });

  it('is destroyed at its second limit, also after a restart of the server', async () => {
    fixture.crash();
    sandboxes = await fixture.start();
    await (await sandboxes.recover())();
    fixture.mount.changed.add(sandbox.id);
    await cleanAt(7259);
    expect(sandboxes.get(sandbox.id)).toMatchObject({ status: 'SANDBOX_STOPPED', destroy_at: T0 + 7260 });
    await cleanAt(7260);
    expect(statusOf(sandbox)).toBe('gone');
    expect(() => sandboxes.get(sandbox.id)).toThrow('it expired at 2023-11-14T22:14:20Z (expires_at)');
  });

  it('counts for its owner again when its expiry ends, and not before', async () => {
    fixture.settings.owners = unlimitedOwners(1);
    const other = await create();
    await expect(update(sandbox, { expires_in: 60 })).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(sandboxes.get(sandbox.id).destroy_at).toBe(T0 + 7260);
    await sandboxes.destroy(other.id);
    await update(sandbox, { expires_in: 60 });
    await expect(create()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  it('makes room for later ones of its owner', async () => {
    const later: Sandbox[] = [];
    for (const expires_in of [100, 200]) later.push(await create({ expires_in }));
    for (const each of later) change(each);
    await cleanAt(160);
    expect([sandbox, ...later].map(statusOf)).toEqual(['SANDBOX_STOPPED', 'SANDBOX_STOPPED', 'SANDBOX_RUNNING']);
    await cleanAt(260);
    expect([sandbox, ...later].map(statusOf)).toEqual(['gone', 'SANDBOX_STOPPED', 'SANDBOX_STOPPED']);
  });

  it('is kept for ever if the second limit is 0', async () => {
    fixture.settings.expiry = { ...fixture.settings.expiry, retention: 0 };
    const other = await create();
    change(other);
    await cleanAt(120);
    expect(sandboxes.get(other.id).destroy_at).toBe(0);
    await cleanAt(1e9);
    expect(statusOf(other)).toBe('SANDBOX_STOPPED');
  });
});

it('can be given a later expiry until the cleanup ends it, unless it will be destroyed', async () => {
  const [changed, stops, unchanged, destroyed] = [
    await create(),
    await create({ on_expire: 'stop' }),
    await create(),
    await create({ on_expire: 'destroy' }),
  ];
  change(changed);
  change(destroyed);
  fixture.elapsed = 60_000;
  for (const each of [changed, stops]) {
    expect(await update(each, { expires_in: 60 })).toMatchObject({ status: 'SANDBOX_RUNNING', destroy_at: 0 });
    await exec(each);
  }
  for (const each of [unchanged, destroyed]) {
    await expect(update(each, { expires_in: 60 })).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: `sandbox ${each.id} has expired`,
    });
  }
});

it('changes its on_expire by an update, and gives it to its forks', async () => {
  const sandbox = await create({ expires_in: 5000, on_expire: 'destroy' });
  expect(sandbox.expires_soon).toBe(false);
  fixture.elapsed = 1_400_000;
  expect(sandboxes.get(sandbox.id).expires_soon).toBe(true);
  const request = { ...createRequest(), sandbox_id: sandbox.id, count: 1, checkpoint: '', expires_in: 0 };
  const [same] = await sandboxes.fork(request);
  const [other] = await sandboxes.fork({ ...request, on_expire: 'stop' });
  expect([same?.sandbox?.on_expire, other?.sandbox?.on_expire]).toEqual(['destroy', 'stop']);
  expect((await update(sandbox, { on_expire: 'stop' })).on_expire).toBe('stop');
  expect((await update(sandbox, { on_expire: '' })).on_expire).toBe('keep_changes');
});
