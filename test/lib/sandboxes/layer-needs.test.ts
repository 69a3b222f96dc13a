import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Log, silentLog } from '../../../lib/log.ts';
import type { SandboxRecord } from '../../../lib/metadata/metadata.ts';
import { DeltaHeaders } from '../../../lib/sandboxes/checkpoints/delta-headers.ts';
import { LayerNeeds } from '../../../lib/sandboxes/checkpoints/layer-needs.ts';
import { makeLayout } from '../../../lib/sandboxes/host/layout.ts';
import { LiveSandbox } from '../../../lib/sandboxes/sandbox.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'layer-needs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const CHECKPOINT = { name: 'a', created_at: 0, layer: 'sb_1.0' };
const RECORD = { id: 'sb_1', status: 'SANDBOX_RUNNING', status_reason: '', checkpoints: [CHECKPOINT] };

/** Adds the needs of a sandbox with a checkpoint, whose layer is missing; `meanwhile` runs before that is found. */
async function warnings(meanwhile: (sandbox: LiveSandbox) => unknown): Promise<string[]> {
  const logged: string[] = [];
  const log: Log = { ...silentLog, warn: (message: string) => void logged.push(message) };
  const sandbox = new LiveSandbox(RECORD as unknown as SandboxRecord);
  const layout = makeLayout(join(folder, 'mounts'), join(folder, 'run'));
  const adding = new LayerNeeds(layout, new DeltaHeaders(layout), log).add(sandbox);
  await meanwhile(sandbox);
  await adding;
  return logged;
}

it('a missing layer is logged if the sandbox refers to it', async () => {
  expect(await warnings(() => undefined)).toEqual([
    'frozen layer missing or damaged; the other layers of its sandbox are kept',
  ]);
});

it('a layer that went away with its checkpoint while it was read is not logged', async () => {
  expect(await warnings((sandbox) => sandbox.report({ checkpoints: [] }, { put: async () => {} }))).toEqual([]);
});

it('a layer that went away with its sandbox while it was read is not logged', async () => {
  const destroy = (sandbox: LiveSandbox) => {
    sandbox.destroying = true;
  };
  expect(await warnings(destroy)).toEqual([]);
});
