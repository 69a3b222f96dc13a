import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { workerData } from 'node:worker_threads';
import { HeldSyncs } from './held-syncs.ts';

/** The threads of `worker-entry.ts`, with syncs that the test holds or lets fail. */
if ((workerData as { role: string }).role === 'fuse-sync') {
  const held = HeldSyncs.inThread();
  for (const name of ['fsyncSync', 'fdatasyncSync'] as const) {
    const call = fs[name];
    (fs as unknown as Record<string, typeof call>)[name] = (fd) => {
      held.pass(name);
      call(fd);
    };
  }
  syncBuiltinESMExports();
}
await import('./worker-entry.ts');
