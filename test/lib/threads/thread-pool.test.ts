import { expect, it } from 'vitest';
import { ThreadPool } from '../../../lib/threads/thread-pool.ts';

const ANSWERS = `import { parentPort } from 'node:worker_threads';
parentPort.on('message', () => parentPort.postMessage({ value: 1 }));`;
const entry = new URL(`data:text/javascript,${encodeURIComponent(ANSWERS)}`);

it('a holder waits for a thread for a limited time, and its place in the queue ends with its wait', async () => {
  const pool = new ThreadPool<{ close(): void }>(entry, 'test', { maxWait: 50 });
  const held = await Promise.all([1, 2, 3, 4].map(() => pool.take()));
  await expect(pool.take()).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: 'too many archives are being read or written at once; try again later',
  });
  await held.pop()!.release();
  held.push(await pool.take());
  await Promise.all(held.map(({ release }) => release()));
  await pool.close();
});

it('a thread that cannot be started takes no place', async () => {
  const pool = new ThreadPool<{ close(): void }>(new URL('http://none/'), 'test', { maxWait: 50 });
  for (let n = 0; n < 5; n++) await expect(pool.take()).rejects.toMatchObject({ code: 'ERR_INVALID_URL_SCHEME' });
});
