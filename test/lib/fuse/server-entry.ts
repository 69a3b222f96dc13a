import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';
import { silentLog } from '../../../lib/log.ts';
import { mountWorkspaces } from '../../../lib/workspaces/mount-workspaces.ts';

/** A process that owns a mount at argv[2], reports it on stdout, and ends as its stdin requests. */
if (!isMainThread) await import('./worker-entry.ts');
else {
  const workspaces = await mountWorkspaces({
    mountPoint: process.argv[2] as string,
    entry: new URL(import.meta.url),
    log: silentLog,
  });
  const nothing = { base: '', delta: '', uid: 0, rules: [], maxBytes: 0, maxFiles: 0 };
  await workspaces.attach({ id: 'sb_1', codebaseId: 'cb', ...nothing });
  createInterface({ input: process.stdin }).on('line', (line) => {
    if (line === 'exit') process.exit(7);
    throw new Error('not caught');
  });
  process.stdout.write('mounted\n');
}
