import { mkdtempSync, openSync, readdirSync, readlinkSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeptFiles } from '../../../lib/codebases/commits/kept-files.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kept-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** How many descriptors a process has of files that were removed from the directory. */
function heldBy(pid: string): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).filter((fd) => isHeld(`/proc/${pid}/fd/${fd}`)).length;
  } catch {
    return 0;
  }
}

function isHeld(descriptor: string): boolean {
  try {
    const file = readlinkSync(descriptor);
    return file.startsWith(directory) && file.endsWith('(deleted)');
  } catch {
    return false;
  }
}

const heldByAll = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + heldBy(pid), 0);

function keepSome(kept: KeptFiles, count: number): void {
  for (let n = 0; n < count; n++) {
    const path = join(directory, String(n));
    writeFileSync(path, '');
    kept.keep(() => openSync(path, 'r'));
    unlinkSync(path);
  }
}

it('files beyond the most are not held by the server, and all are closed in the end', async () => {
  const kept = new KeptFiles(20);
  keepSome(kept, 30);
  expect(heldBy('self')).toBe(10);
  kept.close();
  expect(heldBy('self')).toBe(0);
  await expect.poll(heldByAll, { timeout: 60_000 }).toBe(0);
});

it('files are closed by the server where it cannot start a process', () => {
  const kept = new KeptFiles(20, '/nonexistent');
  keepSome(kept, 30);
  expect(heldBy('self')).toBe(20);
  kept.close();
  expect(heldBy('self')).toBe(0);
});

it('a file that is not there is left out', () => {
  const kept = new KeptFiles(20);
  kept.keep(() => openSync(join(directory, 'absent'), 'r'));
  kept.close();
});
