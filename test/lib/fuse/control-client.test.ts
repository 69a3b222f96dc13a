import { closeSync, openSync, writeSync } from 'node:fs';
import { serialize } from 'node:v8';
import { MessageChannel } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ControlClient } from '../../../lib/fuse/connection/control-client.ts';

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, writeSync: vi.fn(fs.writeSync) };
});

const write = vi.mocked(writeSync);
const { port1, port2 } = new MessageChannel();
let fd: number;
let client: ControlClient;

beforeEach(() => {
  fd = openSync('/dev/null', 'w');
  client = new ControlClient(fd, port1);
  write.mockClear();
});
afterEach(() => {
  client.release();
  closeSync(fd);
});
afterAll(() => port2.close());

function failOnce(code: string): void {
  write.mockImplementationOnce(() => {
    throw Object.assign(new Error(code), { code });
  });
}

it('the control client retries the wake-up of the request worker while the host is short of memory', async () => {
  failOnce('ENOMEM');
  failOnce('ENOMEM');
  client.call('ping').catch(() => undefined);
  await expect.poll(() => write.mock.calls.length, { timeout: 30_000 }).toBe(3);
});

it('the control client writes nothing after its release', () => {
  vi.useFakeTimers();
  failOnce('ENOMEM');
  client.stop();
  client.release();
  vi.runAllTimers();
  vi.useRealTimers();
  expect(write).toHaveBeenCalledTimes(1);
});

it('the control client sends nothing of a list after its close', async () => {
  const called = client.call(
    'rebase',
    Array.from({ length: 100_000 }, () => 'a'.repeat(100)),
  );
  client.close('it was closed');
  const written = write.mock.calls.length;
  await expect(called).rejects.toThrow('it was closed');
  expect(write.mock.calls.length).toBe(written);
});

it('the control client decodes partial results in several steps, in order', async () => {
  const called = client.call('changes');
  const id = 1;
  const parts = Array.from({ length: 100 }, (_, part) =>
    Array.from({ length: 1000 }, (_, n) => ({ path: `${part}/${n}` })),
  );
  for (const part of parts) client.onPart(id, serialize(part));
  client.onAnswer({ kind: 'answer', id, value: ['last'], batch: 0, late: 0 });
  let turns = 0;
  let ended = false;
  const count = () => {
    turns++;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  expect(await called).toEqual([...parts, ['last']]);
  ended = true;
  expect(turns).toBeGreaterThan(0);
});
