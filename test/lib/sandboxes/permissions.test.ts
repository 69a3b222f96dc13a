import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import { PRESETS } from '../../../lib/permissions/index.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { createRequest, Fixture } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  await fixture.addCodebase();
});
afterEach(() => fixture.remove());

const readAll: PermissionRule = { pattern: '/**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: -100 };
const hideKeys: PermissionRule = { ...readAll, pattern: '/keys', permission: 'PERMISSION_NONE', priority: 5 };

describe('UpdatePermissions', () => {
  it('applies the new rules to the running workspace and to the record', async () => {
    const { id } = await sandboxes.create(createRequest());
    const updated = await sandboxes.updatePermissions({ sandbox_id: id, permissions: [hideKeys], preset: 'read-only' });
    expect(updated.permissions).toEqual([readAll, hideKeys]);
    expect(fixture.mount.attached.get(id)?.rules).toEqual([readAll, hideKeys]);
    expect(fixture.metadata.sandboxes.get(id)).toMatchObject({
      status: 'SANDBOX_RUNNING',
      permissions: [readAll, hideKeys],
    });
  });

  it('changes a stopped sandbox for its next start', async () => {
    const { id } = await sandboxes.create(createRequest());
    await sandboxes.stop(id);
    await sandboxes.updatePermissions({ sandbox_id: id, permissions: [readAll], preset: '' });
    expect(fixture.metadata.sandboxes.get(id)).toMatchObject({ status: 'SANDBOX_STOPPED', permissions: [readAll] });
    await sandboxes.start(id);
    expect(fixture.mount.attached.get(id)?.rules).toEqual([readAll]);
  });

  it('keeps the old rules everywhere if the file system rejects the new ones', async () => {
    const { id } = await sandboxes.create(createRequest({ permissions: [hideKeys] }));
    fixture.mount.setRules = async () => {
      throw new Error('gone');
    };
    await expect(sandboxes.updatePermissions({ sandbox_id: id, permissions: [readAll], preset: '' })).rejects.toThrow(
      'gone',
    );
    expect(sandboxes.get(id).permissions).toEqual([hideKeys]);
    expect(fixture.metadata.sandboxes.get(id)?.permissions).toEqual([hideKeys]);
  });

  it('changes nothing when the new rules cannot be stored', async () => {
    const { id } = await sandboxes.create(createRequest({ permissions: [hideKeys] }));
    await fixture.metadata.close();
    await expect(
      sandboxes.updatePermissions({ sandbox_id: id, permissions: [readAll], preset: '' }),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(sandboxes.get(id).permissions).toEqual([hideKeys]);
    expect(fixture.mount.attached.get(id)?.rules).toEqual([hideKeys]);
  });

  it('names an invalid rule by its index in the request, also with a preset', async () => {
    const { id } = await sandboxes.create(createRequest());
    const permissions = [readAll, { ...readAll, pattern: '[' }];
    await expect(
      (async () => sandboxes.updatePermissions({ sandbox_id: id, permissions, preset: 'development' }))(),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('permissions[1].pattern') });
  });
});

describe('presets', () => {
  it.each(PRESETS)('$name applies to a sandbox, extended by its own rules', async ({ name, permissions }) => {
    const { id } = await sandboxes.create(createRequest({ preset: name, permissions: [hideKeys] }));
    expect(sandboxes.get(id).permissions).toEqual([...permissions, hideKeys]);
  });

  it('refuses an unknown preset, naming the known ones', async () => {
    await expect(sandboxes.create(createRequest({ preset: 'agent' }))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'preset must be one of read-only, full-access, agent-safe, development, or empty',
    });
  });
});

describe('ExplainPermission', () => {
  it('returns the winning rule, the beaten rules and the reason, for a path that need not exist', async () => {
    const { id } = await sandboxes.create(createRequest({ permissions: [readAll, hideKeys] }));
    expect(await sandboxes.explainPermission(id, '/keys')).toMatchObject({
      path: 'keys',
      permission: 'PERMISSION_NONE',
      winner: { index: 1, rule: hideKeys },
      beaten: [{ index: 0, rule: readAll }],
      pass_through: true,
      reason: expect.stringContaining('has the higher priority'),
    });
  });

  it('says so when no rule matches', async () => {
    const { id } = await sandboxes.create(createRequest());
    const explained = await sandboxes.explainPermission(id, 'x');
    expect(explained).toMatchObject({ permission: 'PERMISSION_NONE', beaten: [], pass_through: false });
    expect('winner' in explained).toBe(false);
  });

  it('refuses a path that leaves the workspace', async () => {
    const { id } = await sandboxes.create(createRequest());
    await expect(sandboxes.explainPermission(id, '../x')).rejects.toThrow('path must not have');
  });
});
