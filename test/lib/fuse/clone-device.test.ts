import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { cloneDevice } from '../../../lib/fuse/connection/clone-device.ts';

vi.mock('node:child_process', async (original) => ({
  ...(await original<typeof import('node:child_process')>()),
  // As Node throws ENOMEM of fork(2).
  spawn: () => {
    throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
  },
}));

it('does without a second descriptor, and leaves none, when no program can be started', async () => {
  const device = await open('/dev/null');
  const before = readdirSync('/proc/self/fd').length;
  expect(await cloneDevice(device)).toBeUndefined();
  expect(readdirSync('/proc/self/fd').length).toBe(before);
  await device.close();
});
