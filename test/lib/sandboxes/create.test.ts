import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../lib/errors.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import type { NewSandbox } from '../../../lib/services.ts';
import { homeBeside } from '../../../lib/workspaces/mount-workspaces.ts';
import { createRequest, Fixture, NO_LIMITS } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  await fixture.addCodebase();
});

afterEach(() => fixture.remove());

const nothingIsLeft = () => {
  expect([...fixture.metadata.sandboxes.values()]).toEqual([]);
  expect(sandboxes.list({ codebase_id: '', page_size: 100, page_token: '' }).sandboxes).toEqual([]);
  expect([fixture.runtime.up.size, fixture.mount.attached.size]).toEqual([0, 0]);
  expect(readdirSync(fixture.layout.deltas)).toEqual([]);
};

describe('create', () => {
  it('returns a RUNNING sandbox that is launched, attached and durable', async () => {
    const rule = { pattern: '**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 1 } as const;
    const sandbox = await sandboxes.create(createRequest({ permissions: [rule], labels: { a: 'b' }, expires_in: 60 }));
    expect(sandbox).toEqual({
      secrets: [],
      read_only_paths: [],
      workspace_path: '',
      id: expect.stringMatching(/^sb_/),
      codebase_id: 'cb_1',
      status: 'SANDBOX_RUNNING',
      permissions: [rule],
      labels: { a: 'b' },
      created_at: 1_700_000_000,
      expires_at: 1_700_000_060,
      runtime: 'RUNTIME_BWRAP',
      image: '',
      resources: { memory_bytes: 100, cpu_quota: 0, cpu_shares: 0, pids_limit: 50 },
      status_reason: '',
      auto_commit: 'never',
      auto_commit_error: '',
      auto_commit_stopped: false,
      owner_id: 'ann',
      idle_timeout: 0,
      on_idle: 'stop',
      on_expire: 'keep_changes',
      shell: '',
      env: {},
      workdir: '',
      expires_soon: true,
      destroy_at: 0,
      network: { mode: 'none', rules: [], revision: 0, presets: [] },
      warnings: expect.anything(),
    });
    expect(fixture.runtime.up.get(sandbox.id)?.spec).toEqual({
      id: sandbox.id,
      workspace: `/mnt/${sandbox.id}`,
      home: homeBeside(`/mnt/${sandbox.id}`),
      runDir: join(fixture.layout.run, sandbox.id),
      uid: 1000,
      image: '',
      resources: sandbox.resources,
    });
    expect(fixture.mount.attached.get(sandbox.id)).toMatchObject({
      uid: 1000,
      rules: [rule],
      maxBytes: 7,
      maxFiles: 8,
      maxIndexBytes: 9,
    });
    fixture.crash();
    await fixture.start();
    expect(fixture.metadata.sandboxes.get(sandbox.id)).toMatchObject({ status: 'SANDBOX_RUNNING', owner_id: 'ann' });
  });

  it('uses the resource limits of the request, and defaults for the others', async () => {
    const { resources } = await sandboxes.create(
      createRequest({ resources: { ...NO_LIMITS, memory_bytes: 5, cpu_quota: 6 } }),
    );
    expect(resources).toEqual({ memory_bytes: 5, cpu_quota: 6, cpu_shares: 0, pids_limit: 50 });
  });

  it('expires after the default time, or never if that is 0', async () => {
    expect((await sandboxes.create(createRequest())).expires_at).toBe(1_700_003_600);
    fixture.settings.defaultExpiration = 0;
    expect((await sandboxes.create(createRequest())).expires_at).toBe(0);
  });

  it('attaches nothing for the mock runtime', async () => {
    await sandboxes.create(createRequest({ runtime: 'RUNTIME_MOCK' }));
    expect([fixture.runtime.up.size, fixture.mount.attached.size]).toEqual([1, 0]);
  });

  it('gives every sandbox its own host user, and reuses freed ones last', async () => {
    fixture.uids = { start: 5, size: 3 };
    sandboxes = await fixture.start();
    const uidOf = async () => fixture.runtime.up.get((await sandboxes.create(createRequest())).id)!.spec.uid;
    const first = await sandboxes.create(createRequest());
    await sandboxes.destroy(first.id);
    expect([await uidOf(), await uidOf(), await uidOf()]).toEqual([6, 7, 5]);
    await expect(uidOf()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
  });

  const refused: [string, Partial<NewSandbox>, string, RegExp][] = [
    ['an unknown codebase', { codebase_id: 'cb_no' }, 'NOT_FOUND', /codebase "cb_no" does not exist/],
    ['the codebase __proto__', { codebase_id: '__proto__' }, 'NOT_FOUND', /does not exist/],
    [
      'an unknown image',
      { image: 'ubuntu' },
      'INVALID_ARGUMENT',
      /^image "ubuntu" is no image of this server: ListImages lists them, ImportImage stores one$/,
    ],
    [
      'an image of the mock runtime',
      { image: 'ubuntu', runtime: 'RUNTIME_MOCK' },
      'INVALID_ARGUMENT',
      /^image is for the runtimes bwrap and docker, this sandbox would be of mock$/,
    ],
    ['a runtime that does not work here', { runtime: 'RUNTIME_DOCKER' }, 'FAILED_PRECONDITION', /no docker/],
    [
      'a rule that cannot be parsed',
      { permissions: [{ pattern: '[', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 0 }] },
      'INVALID_ARGUMENT',
      /permissions\[0\]/,
    ],
  ];

  it.each(refused)('refuses %s without side effects', async (_, fields, code, message) => {
    await expect(sandboxes.create(createRequest(fields))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
    nothingIsLeft();
  });

  it('only checks with validate_only, and answers with what it would make', async () => {
    const request = createRequest({ labels: { a: 'b' }, expires_in: 60, validate_only: true });
    const checked = await sandboxes.create(request);
    expect(checked).toMatchObject({ id: '', status: 'SANDBOX_PENDING', labels: { a: 'b' }, expires_at: 1_700_000_060 });
    nothingIsLeft();
  });

  it.each(refused)('refuses %s with validate_only, too', async (_, fields, code, message) => {
    const asked = sandboxes.create(createRequest({ ...fields, validate_only: true }));
    await expect(asked).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
  });

  it.each(['launch', 'attach'])('undoes everything if %s fails, and releases the quota', async (what) => {
    fixture.settings.owners = unlimitedOwners(1);
    const failing = what === 'launch' ? fixture.runtime : fixture.mount;
    const fails = async () => {
      throw new ServiceError('UNAVAILABLE', 'no room');
    };
    failing.before = fails;
    await expect(sandboxes.create(createRequest())).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'no room',
    });
    nothingIsLeft();
    failing.before = async () => {};
    await sandboxes.create(createRequest());
  });

  it('undoes everything when it cannot be stored', async () => {
    await fixture.metadata.close();
    await expect(sandboxes.create(createRequest())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    nothingIsLeft();
  });

  it('is refused once the server closes', async () => {
    await sandboxes.close();
    await expect(sandboxes.create(createRequest())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('max_per_user', () => {
  it('is not exceeded by 50 concurrent creates', async () => {
    fixture.runtime.before = () => new Promise((resolve) => setImmediate(resolve));
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => sandboxes.create(createRequest())));
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'OK'));
    expect(codes.filter((code) => code === 'OK')).toHaveLength(10);
    expect(codes.filter((code) => code === 'RESOURCE_EXHAUSTED')).toHaveLength(40);
    expect(fixture.runtime.up.size).toBe(10);
  });

  it('counts the sandboxes of an owner over all codebases, without expired ones', async () => {
    fixture.settings.owners = unlimitedOwners(2);
    await fixture.addCodebase('cb_2', 'ann');
    await fixture.addCodebase('cb_3', 'bob');
    await sandboxes.create(createRequest({ expires_in: 10 }));
    await sandboxes.create(createRequest({ codebase_id: 'cb_2' }));
    await expect(sandboxes.create(createRequest())).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    await sandboxes.create(createRequest({ codebase_id: 'cb_3' }));
    fixture.elapsed += 10_000;
    await sandboxes.create(createRequest());
  });

  it('0 is no limit', async () => {
    fixture.settings.owners = unlimitedOwners(0);
    await Promise.all(Array.from({ length: 20 }, () => sandboxes.create(createRequest())));
    expect(fixture.runtime.up.size).toBe(20);
  });
});

describe('a codebase', () => {
  it('is in use by a sandbox that is still being created', async () => {
    const creating = sandboxes.create(createRequest());
    await new Promise((resolve) => setImmediate(resolve));
    expect(sandboxes.usersOf('cb_1')).toHaveLength(1);
    await creating;
  });

  it('deleted before the sandbox is admitted is NOT_FOUND, and nothing is launched', async () => {
    const creating = sandboxes.create(createRequest());
    expect(sandboxes.usersOf('cb_1')).toEqual([]);
    const removed = fixture.metadata.codebases.remove('cb_1');
    await expect(creating).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await removed;
    expect(fixture.runtime.launches).toEqual([]);
    expect(existsSync(fixture.layout.deltas)).toBe(true);
  });
});
