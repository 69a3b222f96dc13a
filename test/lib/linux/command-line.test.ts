import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { commandLine } from '../../../lib/linux/command-line.ts';

async function running(name: string): Promise<number> {
  const child = spawn('/bin/sh', ['-c', 'echo; exec sleep 60', name], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid!;
}

it('a command line is that of its process, whoever asks meanwhile', async () => {
  const pids = await Promise.all(['one', 'two', 'three'].map((name) => running(name)));
  await expect.poll(() => Promise.all(pids.map(commandLine))).toEqual(pids.map(() => 'sleep\x0060\0'));
});

it('of a long command line only the beginning is read', async () => {
  const child = spawn('/bin/sh', ['-c', 'echo; read line', 'x'.repeat(100_000)], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(await commandLine(child.pid!)).toMatch(/^\/bin\/sh\0-c\0echo; read line\0x{4000}/);
});

it('a process that does not exist has none, and others are looked at after it', async () => {
  expect(await Promise.all([commandLine(2 ** 22 + 1), commandLine(process.pid)])).toEqual([
    '',
    expect.stringContaining('node'),
  ]);
});
