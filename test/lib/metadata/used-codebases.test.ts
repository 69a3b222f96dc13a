import { mkdtempSync, rmSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../../../lib/log.ts';
import type { CodebaseRecord, Metadata, SandboxRecord } from '../../../lib/metadata/metadata.ts';
import { openMetadata } from '../../../lib/metadata/store.ts';

let folder: string;
let metadata: Metadata;
let isBroken = false;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-used-'));
  const open = (async (...args: Parameters<typeof fs.open>) => {
    if (isBroken) throw Object.assign(new Error('EIO'), { code: 'EIO' });
    const file = await fs.open(...args);
    const { datasync } = file;
    file.datasync = async () => {
      if (isBroken) throw Object.assign(new Error('EIO'), { code: 'EIO' });
      await datasync.call(file);
    };
    return file;
  }) as typeof fs.open;
  metadata = await openMetadata(join(folder, 'db.json'), silentLog, { fileSystem: { ...fs, open } });
  await metadata.codebases.put({ id: 'cb_1', name: 'a', owner_id: 'ann' } as CodebaseRecord);
});
afterEach(async () => {
  isBroken = false;
  await metadata.close();
  rmSync(folder, { recursive: true });
});

const record = (id: string, expires_at = 0) =>
  ({
    id,
    codebase_id: 'cb_1',
    owner_id: 'ann',
    status: 'SANDBOX_RUNNING',
    runtime: 'r',
    expires_at,
  }) as unknown as SandboxRecord;
const refusal = (count: number) => new Error(`has ${count}`);
const admit = (of: SandboxRecord, most = 3, id?: string) =>
  metadata.sandboxes
    .admit({ ...of, ...(id !== undefined && { id }) }, { most, now: 50_000, refusal }, () => of)
    .then(({ stored }) => stored);

it('admits no more sandboxes of an owner than it may have, also at once; expired ones do not count', async () => {
  await admit(record('sb_old', 50));
  const outcomes = await Promise.allSettled(['sb_1', 'sb_2', 'sb_3', 'sb_4'].map((id) => admit(record(id))));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  await expect(admit(record('sb_5'))).rejects.toThrow('has 3');
  await expect(admit(record('sb_old', 60), 3, 'sb_old')).rejects.toThrow('has 3');
  await admit(record('sb_3', 90), 3, 'sb_3');
  await metadata.sandboxes.remove('sb_1');
  await admit(record('sb_old', 60), 3, 'sb_old');
});

it('does not count what could not be stored', async () => {
  isBroken = true;
  await expect(admit(record('sb_1'), 1)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  isBroken = false;
  await admit(record('sb_1'), 1);
});

it('makes nothing for a codebase that does not exist', async () => {
  const make = () => expect.unreachable();
  const asked = { codebase_id: 'cb_2', owner_id: 'ann' };
  const admitted = metadata.sandboxes.admit(asked, { most: 0, now: 0, refusal }, make);
  await expect(admitted).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('removes no codebase with a sandbox, whichever comes first', async () => {
  const [made, removed] = await Promise.allSettled([admit(record('sb_1')), metadata.codebases.remove('cb_1')]);
  expect([made.status, removed]).toMatchObject(['fulfilled', { reason: { code: 'FAILED_PRECONDITION' } }]);
  await metadata.sandboxes.remove('sb_1');
  const [gone, late] = await Promise.allSettled([metadata.codebases.remove('cb_1'), admit(record('sb_2'))]);
  expect([gone.status, late]).toMatchObject(['fulfilled', { reason: { code: 'NOT_FOUND' } }]);
});

it('advances a codebase from its present record only', async () => {
  const first = metadata.codebases.get('cb_1')!;
  const next = { ...first, name: 'b' };
  expect(await metadata.codebases.advance(first, next)).toBe(true);
  expect(await metadata.codebases.advance(first, { ...first, name: 'c' })).toBe(false);
  expect([metadata.codebases.get('cb_1')?.name, metadata.codebases.ofOwner('ann').length]).toEqual(['b', 1]);
});
