import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { SandboxProcesses } from '../../../../lib/sandboxes/processes/process-table.ts';

it('what a start left when the server was killed within it is removed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'paddock-processes-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const [id, record] of Object.entries({ a: '', b: '{"version":1,"process_id":"b","or' })) {
    mkdirSync(join(dir, id));
    writeFileSync(join(dir, id, 'process.json'), record);
  }
  const limits = { processes: 8, outputBytes: 16_384, sandboxOutputBytes: 65_536, retention: 1000 };
  const found = new SandboxProcesses(dir, { dir, limits, now: () => 0, log: silentLog });
  await found.load('sb_killed');
  expect(found.all).toEqual([]);
  expect(readdirSync(dir)).toEqual([]);
});
