import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FoundProcess } from '../../../lib/linux/found-process.ts';
import { startOf } from '../../../lib/linux/process-start.ts';

let child: ChildProcess;
beforeEach(() => {
  child = spawn('sleep', ['60'], { stdio: 'ignore' });
});
afterEach(() => void child.kill('SIGKILL'));

it('signals the process that was found', async () => {
  const ended = once(child, 'exit');
  new FoundProcess(child.pid!, startOf(child.pid!)).send('SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
});

it('signals no process that has its pid by now', async () => {
  const ended = once(child, 'exit');
  new FoundProcess(child.pid!, String(Number(startOf(child.pid!)) - 1)).send('SIGTERM');
  child.kill('SIGUSR1');
  expect(await ended).toEqual([null, 'SIGUSR1']);
});
