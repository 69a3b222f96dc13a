import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Sandbox } from '../../../lib/contract/messages.ts';
import { unlimitedOwners } from '../../../lib/limits/stored-limits.ts';
import type { SandboxKeeper } from '../../../lib/sandboxes/sandboxes.ts';
import { DirectMount } from './direct-mount.ts';
import { createRequest, Fixture, forkOf } from './fixture.ts';

const QUOTA = 6 << 20;
const MOST = 'x'.repeat(5 << 20);

let fixture: Fixture;
let mount: DirectMount;
let sandboxes: SandboxKeeper;
let parent: Sandbox;

beforeEach(async () => {
  fixture = new Fixture();
  fixture.settings.owners = unlimitedOwners(0);
  fixture.maxDelta = 0;
  fixture.maxDeltaBytes = QUOTA;
  mount = new DirectMount();
  fixture.mount = mount;
  sandboxes = await fixture.start();
  mkdirSync(join(fixture.folder, 'codebases/cb_1'), { recursive: true });
  await fixture.addCodebase();
  const permissions = [{ pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }] as const;
  parent = await sandboxes.create(createRequest({ permissions: [...permissions] }));
});

afterEach(async () => {
  await sandboxes.close();
  fixture.remove();
});

async function fork(of: Sandbox, checkpoint = ''): Promise<Sandbox> {
  const [result] = await sandboxes.fork(forkOf(of.id, { checkpoint }));
  return result!.sandbox!;
}

/** A fork that shares a large file, which the parent then empties, and a small one, which both keep. */
async function forkAndOverwrite(round: number): Promise<Sandbox> {
  mount.write(parent.id, 'large', MOST);
  mount.write(parent.id, `small ${round}`, 'x');
  const forked = await fork(parent);
  for (const { id } of [parent, forked]) mount.write(id, 'large', '');
  return forked;
}

function bytesOnDisk(): number {
  const root = fixture.layout.layers;
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return paths.reduce((sum, path) => sum + statSync(join(root, path)).blocks * 512, 0);
}

const refusal =
  /^the layers that sandbox sb_\w+ shares with forks hold \d+ bytes .* \(sandbox.max_delta_bytes\): destroy/;

it('refuses a fork while shared layers hold more overwritten contents than the quota', async () => {
  let last: Sandbox | undefined;
  for (let round = 0; round < 2; round++) {
    const forked = await forkAndOverwrite(round);
    if (last !== undefined) await sandboxes.destroy(last.id);
    last = forked;
  }
  await fixture.context.layers.done;
  expect(bytesOnDisk()).toBeGreaterThan(QUOTA);
  await expect(fork(parent)).rejects.toThrow(refusal);
  // The fork has the same layers.
  await expect(fork(last!)).rejects.toThrow(refusal);
  await sandboxes.createCheckpoint(last!.id, 'c');
  await expect(fork(last!, 'c')).rejects.toThrow(refusal);
  await sandboxes.destroy(last!.id);
  await fixture.context.layers.done;
  expect(bytesOnDisk()).toBeLessThan(QUOTA);
  await forkAndOverwrite(2);
});

it('does not count what checkpoints of the sandbox keep, which counts for the quota', async () => {
  mount.write(parent.id, 'large', MOST);
  await sandboxes.createCheckpoint(parent.id, 'c');
  mount.write(parent.id, 'large', '');
  for (let round = 0; round < 3; round++) await fork(parent, 'c');
  await fork(parent);
});
