import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NO_LIMITS } from '../../../lib/limits/limits.ts';
import { StoredLimits, unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Metadata } from '../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../lib/metadata/store.ts';

const CONFIGURED = { ...NO_LIMITS, commands: 64, sandboxes: 10 };

let folder: string;
let metadata: Metadata;
const open = async () => {
  metadata = await openMetadata(join(folder, 'db.json'), silentLog);
  return new StoredLimits(metadata.owners, CONFIGURED);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-limits-'));
});
afterEach(async () => {
  await metadata.close();
  rmSync(folder, { recursive: true });
});

it('limits that were set for an owner replace the configured ones, also after a restart', async () => {
  const before = await open();
  expect(before.of('ann')).toEqual(CONFIGURED);
  const set = { commands: 2, codebases: 0, sandboxes: 1 };
  await before.set('ann', set);
  await metadata.close();
  const after = await open();
  expect(after.get('ann')).toEqual({ owner_id: 'ann', set, effective: { ...CONFIGURED, ...set } });
  expect(after.of('bob')).toEqual(CONFIGURED);
  expect([
    after.placeOf('ann', 'commands'),
    after.placeOf('ann', 'streams'),
    after.placeOf('bob', 'sandboxes'),
  ]).toEqual(['commands of the owner’s limits', 'limits.per_owner.streams', 'sandbox.max_per_user']);
});

it('no limits of an owner are the configured ones again', async () => {
  const limits = await open();
  await limits.set('ann', { commands: 2 });
  await limits.set('ann', {});
  expect(limits.get('ann')).toEqual({ owner_id: 'ann', set: {}, effective: CONFIGURED });
  await metadata.close();
  // The file of a server without any is that of earlier releases.
  expect(readFileSync(join(folder, 'db.json'), 'utf8')).not.toContain('owners');
});

it('metadata of earlier releases is read', async () => {
  writeFileSync(join(folder, 'db.json'), '{"version":1,"state":{"codebases":[],"sandboxes":[]}}\n');
  expect((await open()).of('ann')).toEqual(CONFIGURED);
});

it('what has no owner, and what is used without authentication, is limited by the number of sandboxes only', async () => {
  const limits = await open();
  expect(limits.of('')).toEqual({ ...NO_LIMITS, sandboxes: 10 });
  expect(unlimitedOwners(3).of('ann')).toEqual({ ...NO_LIMITS, sandboxes: 3 });
  expect(() => limits.get('')).toThrow('owner_id is required');
  await expect(limits.set('', {})).rejects.toThrow('owner_id is required');
});
