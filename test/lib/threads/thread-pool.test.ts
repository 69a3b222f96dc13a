import { expect, it } from 'vitest';
import { ThreadPool } from '../../../lib/threads/thread-pool.ts';

const ANSWERS = `import { parentPort } from 'node:worker_threads';
parentPort.on('message', () => parentPort.postMessage({ value: 1 }));`;
const entry = new URL(`data:text/javascript,${encodeURIComponent(ANSWERS)}`);

it('a holder waits for a thread for a limited time, and its place in the queue ends with its wait', async () => {
  const pool = new ThreadPool<{ close(): void }>(entry, 'test', { maxWait: 50 });
  const { take } = pool.of('one');
  const held = await Promise.all([1, 2, 3, 4].map(() => take()));
  await expect(take()).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: 'too many requests of this kind are in progress; try again later',
  });
  await held.pop()!.release();
  held.push(await take());
  await Promise.all(held.map(({ release }) => release()));
  await pool.close();
});

it('one owner leaves threads for others, also while it waits for more', async () => {
  const pool = new ThreadPool<{ close(): void }>(entry, 'test');
  const held = [];
  for (const owner of ['one', 'one', 'one', 'one', 'two', 'two', 'three', 'four'])
    held.push(await pool.of(owner).take());
  const admitted: string[] = [];
  const waiting = ['one', 'two', 'five'].map(async (owner) => {
    const { release } = await pool.of(owner).take();
    admitted.push(owner);
    await release();
  });
  await held.pop()!.release();
  await waiting[2];
  expect(admitted).toEqual(['five']);
  await Promise.all(held.map(({ release }) => release()));
  await Promise.all(waiting);
  await pool.close();
});

it('a thread that cannot be started takes no place', async () => {
  const pool = new ThreadPool<{ close(): void }>(new URL('http://none/'), 'test', { maxWait: 50 });
  for (let n = 0; n < 5; n++)
    await expect(pool.of('').take()).rejects.toMatchObject({ code: 'ERR_INVALID_URL_SCHEME' });
});
