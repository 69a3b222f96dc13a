import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { ProcessTable } from '../../../../lib/sandboxes/processes/process-table.ts';

const base = mkdtempSync(join(tmpdir(), 'paddock-table-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let dir: string;
let table: ProcessTable;
beforeEach(() => {
  dir = join(mkdtempSync(join(base, 't-')), 'processes');
  const limits = { processes: 8, outputBytes: 16_384, sandboxOutputBytes: 65_536, retention: 1000 };
  table = new ProcessTable({ dir, limits, now: () => 0, log: silentLog });
});

/** Leaves a process that was not started completely, which is removed when the sandbox is read. */
function leave(sandboxId: string): void {
  mkdirSync(join(dir, sandboxId, 'a'), { recursive: true });
  writeFileSync(join(dir, sandboxId, 'a', 'process.json'), '');
}
const isRead = (sandboxId: string) => !existsSync(join(dir, sandboxId, 'a'));

describe('the sandboxes of an earlier server that nobody asks for', () => {
  it('are read also if they could not be listed at first', async () => {
    await table.expire();
    leave('sb_1');
    await table.expire();
    expect(isRead('sb_1')).toBe(true);
  });

  it('are not read after they were destroyed', async () => {
    const ids = Array.from({ length: 17 }, (_, index) => `sb_${index}`);
    ids.forEach(leave);
    await table.expire();
    const [last, ...others] = readdirSync(dir).filter((id) => !isRead(id));
    expect(others).toEqual([]);
    await table.forget(last!);
    leave(last!);
    await table.expire();
    expect(isRead(last!)).toBe(false);
  });

  it('take no memory if they have no processes', async () => {
    leave('sb_1');
    await table.expire();
    leave('sb_1');
    expect((await table.of('sb_1')).all).toEqual([]);
    // Read again.
    expect(isRead('sb_1')).toBe(true);
  });

  it('have one table each, also if somebody asks while they are read', async () => {
    leave('sb_1');
    const expired = table.expire();
    await expect.poll(() => isRead('sb_1'), { interval: 0, timeout: 30_000 }).toBe(true);
    const asked = await table.of('sb_1');
    await expired;
    expect(await table.of('sb_1')).toBe(asked);
  });
});
