import { MessageChannel } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { StartedSyncThreads } from '../../../lib/fuse/connection/started-sync-threads.ts';
import { silentLog } from '../../../lib/log.ts';

/** Sync threads that run a script, or none can be started. `ended`: their indices. */
function threads(script: () => string) {
  const ended: number[] = [];
  const logged: unknown[] = [];
  const log = { ...silentLog, error: (...entry: unknown[]) => void logged.push(entry) };
  const started = new StartedSyncThreads({ fd: 0, entry: script, log }, async (index) => ended.push(index));
  return { started, ended, logged, start: (index: number) => started.start(index, new MessageChannel().port1) };
}

it('A thread that cannot be started, or that ends by itself, is reported, and nothing else ends', async () => {
  const refused = new Error('EAGAIN: of the host');
  const none = threads(() => {
    throw refused;
  });
  none.start(1);
  await expect.poll(() => none.logged).toEqual([[expect.any(String), { err: refused }]]);
  expect(none.ended).toEqual([1]);

  const failing = threads(() => 'throw new Error("uncaught")');
  failing.start(0);
  await expect.poll(() => failing.logged).toMatchObject([[expect.any(String), { err: { message: 'uncaught' } }]]);
  expect(failing.ended).toEqual([0]);
});

it('Terminated threads are not reported, and no further one is started', async () => {
  const { started, ended, start } = threads(() => 'setInterval(() => {}, 1000)');
  start(0);
  await started.terminate();
  start(1);
  await started.terminate();
  expect(ended).toEqual([]);
});
