import { ChildProcess } from 'node:child_process';
import { afterEach, expect, it, vi } from 'vitest';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { Launcher } from '../../../../lib/runtime/bwrap/launcher.ts';
import { ShellProcess } from '../../../../lib/runtime/bwrap/shell-process.ts';

vi.mock('node:child_process', async (original) => {
  const real = await original<typeof import('node:child_process')>();
  return { ...real, spawn: () => real.spawn('/nonexistent/program') };
});

afterEach(() => void vi.restoreAllMocks());

it('a launcher that could not be started is never signalled, because pid 0 is the server’s own process group', async () => {
  const inheritance = { closeFds: [], niceness: undefined };
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(false);
  const launcher = new Launcher(undefined, () => new ShellProcess([], inheritance), new Descriptors());
  await launcher.discard();
  expect(kill).not.toHaveBeenCalled();
});
