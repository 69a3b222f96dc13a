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
  // Without the trap, the pipe that nobody reads would end the shell with SIGPIPE if it is closed before the echo.
  const script = "trap '' PIPE; echo lost >&2; exit 3";
  expect(await run('/bin/sh', ['-c', script])).toEqual({ code: 3, stderr: '' });
});
