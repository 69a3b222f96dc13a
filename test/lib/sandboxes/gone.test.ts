import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import { GoneSandboxes } from '../../../lib/sandboxes/lifecycle/gone.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { createRequest, execRequest, Fixture, NO_UPDATE, never } from './fixture.ts';

let fixture: Fixture;
let sandboxes: SandboxKeeper;
let sandbox: Sandbox;

beforeEach(async () => {
  fixture = new Fixture();
  sandboxes = await fixture.start();
  await fixture.addCodebase();
  sandbox = await sandboxes.create(createRequest({ expires_in: 60 }));
});
afterEach(() => fixture.remove());

function errorOf(id = sandbox.id): ServiceError {
  try {
    sandboxes.get(id);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('there is no ServiceError');
}

const plain = (id = sandbox.id) => `sandbox "${id}" does not exist`;
// The clock of the fixture starts at 1,700,000,000.
const reason = () =>
  `sandbox "${sandbox.id}" no longer exists: it expired at 2023-11-14T22:14:20Z (expires_at) and was destroyed`;

it('a sandbox that expired is NOT_FOUND with the reason and the time, for an hour', async () => {
  fixture.elapsed = 100_000;
  await sandboxes.expire();
  expect(errorOf()).toMatchObject({
    code: 'NOT_FOUND',
    message: reason(),
    details: [{ reason: 'expired', since: 1_700_000_060, destroyed_at: 1_700_000_100 }, { resourceType: 'sandbox' }],
  });
  await expect(sandboxes.exec(execRequest(sandbox.id), never)).rejects.toMatchObject({ message: reason() });
  await expect(sandboxes.destroy(sandbox.id)).rejects.toMatchObject({ code: 'NOT_FOUND', message: reason() });
  expect([sandboxes.ownerOfGone(sandbox.id), sandboxes.ownerOfGone('sb_other')]).toEqual(['ann', undefined]);
  fixture.elapsed = 100_000 + 3_599_999;
  expect(errorOf().message).toBe(reason());
  fixture.elapsed = 100_000 + 3_600_000;
  expect([errorOf().message, sandboxes.ownerOfGone(sandbox.id)]).toEqual([plain(), undefined]);
  await sandboxes.expire();
  expect(fixture.metadata.gone.size).toBe(0);
});

it('the reason is known after a restart, and is stored in the write that removes the sandbox', async () => {
  fixture.elapsed = 60_000;
  await sandboxes.expire();
  const lines = readFileSync(join(fixture.folder, 'db.json.log.1'), 'utf8').trimEnd().split('\n');
  const changes = JSON.parse(lines.at(-1)!.replace(/^\d+ \d+ \w+ /, ''));
  expect(changes).toMatchObject([
    ['sandboxes', sandbox.id],
    ['gone', { id: sandbox.id, owner_id: 'ann', reason: 'expired' }],
  ]);
  fixture.crash();
  sandboxes = await fixture.start();
  await sandboxes.recover();
  expect(errorOf().message).toBe(reason());
});

it('a sandbox that a caller destroyed is gone without a reason', async () => {
  await sandboxes.destroy(sandbox.id);
  expect(errorOf().message).toBe(plain());
  expect(errorOf('sb_other').message).toBe(plain('sb_other'));
  expect(readFileSync(join(fixture.folder, 'db.json.log.1'), 'utf8')).not.toContain('"gone"');
});

it('an end that cannot be stored leaves the sandbox, and no reason', async () => {
  fixture.elapsed = 60_000;
  await fixture.metadata.close();
  await sandboxes.expire();
  expect(sandboxes.get(sandbox.id).status).toBe('SANDBOX_RUNNING');
  expect(fixture.metadata.gone.size).toBe(0);
});

it('a sandbox whose lifetime was extended just before the cleanup is kept', async () => {
  fixture.elapsed = 59_000;
  const { put } = fixture.metadata.sandboxes;
  fixture.metadata.sandboxes.put = (record) => {
    // The cleanup looks while the new time is being stored.
    fixture.elapsed = 61_000;
    expired = sandboxes.expire();
    return put.call(fixture.metadata.sandboxes, record);
  };
  let expired: Promise<void> | undefined;
  const fields = { ...NO_UPDATE, expires_in: 60 };
  await sandboxes.update({ sandbox_id: sandbox.id, ...fields });
  await expired;
  expect(sandboxes.get(sandbox.id).status).toBe('SANDBOX_RUNNING');
});

it('at most the newest 1000 are known', async () => {
  let now = 1_700_000_000;
  const clock = { now: () => now * 1000, monotonic: () => 0 };
  const gone = new GoneSandboxes(fixture.metadata, clock);
  const added: Promise<void>[] = [];
  for (let index = 0; index < 1010; index++, now++) {
    added.push(gone.add({ id: `sb_${index}`, owner_id: 'ann', reason: 'idle', since: now - 9, gone_at: now }));
  }
  await Promise.all(added);
  expect(fixture.metadata.gone.size).toBe(1000);
  expect([gone.ownerOf('sb_9'), gone.ownerOf('sb_10')]).toEqual([undefined, 'ann']);
});
