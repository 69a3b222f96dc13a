import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { NewForks } from '../../../lib/services.ts';
import { createRequest, execRequest, Fixture, forkOf, never } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let parent: Sandbox;

beforeEach(async () => {
  fixture = new Fixture();
  fixture.settings.owners = unlimitedOwners(0);
  sandboxes = await fixture.start();
  await fixture.addCodebase();
  parent = await sandboxes.create(createRequest());
});

afterEach(() => fixture.remove());

const forkRequest = (fields: Partial<NewForks> = {}): NewForks => forkOf(parent.id, fields);

const listed = () => sandboxes.list({ codebase_id: 'cb_1', page_size: 100, page_token: '' }).sandboxes;
const forks = () => listed().filter(({ id }) => id !== parent.id);

/** Launches wait until it is called. */
function heldLaunches(): () => void {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  fixture.runtime.before = () => held;
  return release;
}

describe('forks that wait to be launched', () => {
  it('are launched before a concurrent command in one or a destroy', async () => {
    const release = heldLaunches();
    const forking = sandboxes.fork(forkRequest({ count: 20 }));
    await vi.waitUntil(() => forks().length === 20, { timeout: 30_000 });
    expect(forks().map(({ status }) => status)).toEqual(Array(20).fill('SANDBOX_PENDING'));
    const [first, last] = [forks()[18]!, forks()[19]!];
    const executed = sandboxes.exec(execRequest(first.id), never);
    const destroyed = sandboxes.destroy(last.id);
    release();
    expect((await forking).map(({ sandbox }) => sandbox?.status)).toEqual(Array(20).fill('SANDBOX_RUNNING'));
    await Promise.all([executed, destroyed]);
    expect(forks()).toHaveLength(19);
    expect(fixture.runtime.up.has(last.id)).toBe(false);
    expect(fixture.runtime.up.size).toBe(20);
  });

  it('that fail leave nothing, and do not prevent the others', async () => {
    let launches = 0;
    fixture.runtime.before = async () => {
      if (++launches % 2 === 0) throw new ServiceError('UNAVAILABLE', 'no room');
    };
    const results = await sandboxes.fork(forkRequest({ count: 6 }));
    expect(results.filter(({ sandbox }) => sandbox)).toHaveLength(3);
    expect(results.filter(({ error }) => error)).toEqual(Array(3).fill({ error: { code: 14, message: 'no room' } }));
    expect(forks()).toHaveLength(3);
    expect(fixture.metadata.sandboxes.size).toBe(4);
  });

  it('are not started once the server is shutting down', async () => {
    const release = heldLaunches();
    const forking = sandboxes.fork(forkRequest({ count: 30 }));
    await vi.waitUntil(() => forks().length === 30, { timeout: 30_000 });
    const closed = sandboxes.close();
    release();
    const results = await forking;
    await closed;
    expect(results.filter(({ error }) => error?.code === 14).length).toBeGreaterThan(20);
    expect(fixture.runtime.launches.length).toBeLessThanOrEqual(9);
  });
});

it('a fork of an expired sandbox is refused', async () => {
  const short = await sandboxes.create(createRequest({ expires_in: 60 }));
  fixture.elapsed = 61_000;
  await expect(sandboxes.fork(forkRequest({ sandbox_id: short.id }))).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
  });
});
