import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DiskSync, syncDisk } from '../../../lib/linux/disk-sync.ts';

let directory: string;
let disk: DiskSync;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'disk-sync-'));
  disk = new DiskSync();
});
afterEach(() => {
  disk.close();
  rmSync(directory, { recursive: true });
});

/** Processes of this one that sync. */
function helpers(): number[] {
  const children = readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
  );
  return children.map(Number).filter((pid) => commandOf(pid).includes('sync -f'));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

it('one process serves all calls, and ends with the last of them', async () => {
  await Promise.all([disk.sync(directory), disk.sync(directory)]);
  const [helper] = helpers();
  await disk.sync(directory);
  expect(helpers()).toEqual([helper]);
  const last = disk.sync(directory);
  disk.close();
  await last;
  await expect.poll(() => commandOf(helper!), { timeout: 30_000 }).toBe('');
});

it.each(['a  b', ' a', 'a\\n', '-a', '$(exit 7)', "'", 'ä', 'a\nb', '*'])(
  'a directory can have the name %j',
  async (name) => {
    mkdirSync(join(directory, name));
    await disk.sync(join(directory, name));
    await expect(disk.sync(join(directory, name, 'absent'))).rejects.toMatchObject({ code: 'EIO' });
  },
);

it('a call whose process is killed is made by another one, and so are the next', async () => {
  await disk.sync(directory);
  const [helper] = helpers();
  const calls = [disk.sync(directory), disk.sync(join(directory, 'absent'))];
  process.kill(helper!, 'SIGKILL');
  const [first, second] = await Promise.allSettled(calls);
  expect([first!.status, second!.status]).toEqual(['fulfilled', 'rejected']);
  await disk.sync(directory);
  expect(helpers()).not.toContain(helper);
});

it('where the shell cannot be started, each call has a process of its own', async () => {
  disk = new DiskSync('/nonexistent');
  await disk.sync(directory);
  await expect(disk.sync(join(directory, 'absent'))).rejects.toMatchObject({ code: 'EIO' });
});

it('without a process that stays, a failure is reported as well', async () => {
  await syncDisk(directory);
  await expect(syncDisk(join(directory, 'absent'))).rejects.toMatchObject({ code: 'EIO' });
});
