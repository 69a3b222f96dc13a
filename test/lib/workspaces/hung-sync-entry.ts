import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { getEnvironmentData, isMainThread, setEnvironmentData, workerData } from 'node:worker_threads';
import { silentLog } from '../../../lib/log.ts';
import { mountWorkspaces } from '../../../lib/workspaces/mount-workspaces.ts';

/**
 * A process that owns a mount in the directory argv[2], and reports the path of a workspace on stdout. An fsync creates the
 * file `begun` there and does not return. A line on stdin lets the process exit.
 */
if (isMainThread) setEnvironmentData('home', process.argv[2]);
const home = getEnvironmentData('home') as unknown as string;
const held = join(home, 'held');
const rules = [{ pattern: '/**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }] as const;
if (isMainThread) {
  execFileSync('mkfifo', [held]);
  const workspaces = await mountWorkspaces({
    mountPoint: join(home, 'mnt'),
    entry: new URL(import.meta.url),
    log: silentLog,
  });
  const path = await workspaces.attach({
    ...{ id: 'sb_1', codebaseId: 'cb', base: join(home, 'base'), delta: join(home, 'delta') },
    ...{ uid: 0, rules: [...rules], maxBytes: 0, maxFiles: 0 },
  });
  createInterface({ input: process.stdin }).on('line', () => process.exit(7));
  process.stdout.write(`${path}\n`);
} else {
  if ((workerData as { role: string }).role === 'fuse-sync') {
    fs.fsyncSync = () => {
      fs.writeFileSync(join(home, 'begun'), '');
      // Nobody writes to it: a system call that no termination of the thread ends.
      fs.openSync(held, 'r');
    };
    syncBuiltinESMExports();
  }
  await import('./worker-entry.ts');
}
