import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { expect, it, vi } from 'vitest';
import { run } from '../../../lib/linux/run.ts';

vi.mock('node:child_process', async (original) => {
  const real = await original<typeof import('node:child_process')>();
  const spawn = (command: string, args: string[], options: SpawnOptions): ChildProcess => {
    const child = real.spawn(command, args, options);
    child.stderr?.destroy(new Error('EIO'));
    return child;
  };
  return { ...real, spawn };
});

it('outlives messages that cannot be read', async () => {
  expect(await run('/bin/sh', ['-c', 'echo lost >&2; exit 3'])).toEqual({ code: 3, stderr: '' });
});
