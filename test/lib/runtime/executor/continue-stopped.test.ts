import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { continueStopped } from '../../../../lib/runtime/executor/stopped-shells.ts';

it('a stopped process of another user, which has the pid of an ended shell, is left alone', async () => {
  const other = spawn('sleep', ['600'], { stdio: 'ignore' });
  onTestFinished(() => void other.kill('SIGKILL'));
  const pid = other.pid!;
  const state = () => /^State:\t(.)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  other.kill('SIGSTOP');
  await vi.waitFor(() => expect(state()).toBe('T'), { timeout: 30_000 });
  const uid = process.getuid!();
  expect([continueStopped([pid], uid + 1), state()]).toEqual([0, 'T']);
  expect(continueStopped([2 ** 22 + 1, pid], uid)).toBe(1);
  await vi.waitFor(() => expect(state()).toBe('S'), { timeout: 30_000 });
});
