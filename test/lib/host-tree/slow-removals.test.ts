import { expect, it } from 'vitest';
import { SlowRemovals } from '../../../lib/host-tree/slow-removals.ts';
import { type Log, silentLog } from '../../../lib/log.ts';
import { until } from '../runtime/bwrap/fixture.ts';

/** Removals that end when the test says so. */
function held() {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const remove = (path: string) => {
    started.push(path);
    return new Promise<void>((resolve, reject) => {
      ends.set(path, (error) => (error === undefined ? resolve() : reject(error)));
    });
  };
  return { started, ends, remove };
}

it('removes one tree at a time, and lets no caller wait for a slow one', async () => {
  const { started, ends, remove } = held();
  const removals = new SlowRemovals(silentLog, remove, 5);
  await Promise.all([removals.remove('slow'), removals.remove('other')]);
  expect(started).toEqual(['slow']);
  ends.get('slow')!();
  await until('the other removal has begun', () => started.length === 2);
});

it('reports a failure to a caller that waits, and logs it later', async () => {
  const logged: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => void logged.push(fields?.path) };
  const failing = new SlowRemovals(log, () => Promise.reject(new Error('EIO')));
  await expect(failing.remove('now')).rejects.toThrow('EIO');
  expect(logged).toEqual([]);
  const { ends, remove } = held();
  await new SlowRemovals(log, remove, 5).remove('later');
  ends.get('later')!(new Error('EIO'));
  await until('the failure is logged', () => logged.length > 0);
  expect(logged).toEqual(['later']);
});
