import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FifoPool, openFifo } from '../../../../lib/runtime/executor/fifo-pool.ts';
import { Runner, type RunnerHost } from '../../../../lib/runtime/executor/runner.ts';

function program(seconds: string): number {
  const child: ChildProcess = spawn('sleep', [seconds], { cwd: '/', stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid!;
}

/**
 * A runner in a process that only says hello, with a group that has the given processes and sends nothing. `answer`: what is said in
 * the place of that.
 */
async function runnerIn(shell: number, inGroup: () => number[], answer?: (name: string) => string) {
  const dir = mkdtempSync('/tmp/paddock-runner-');
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const sent: string[] = [];
  const signal = (name: string) => {
    sent.push(name);
    return inGroup().length - 1;
  };
  const group = { add() {}, pids: inGroup, signal, kill() {}, release() {} };
  const host = {
    dir,
    uid: undefined,
    fifos: new FifoPool(join(dir, 'fifos')),
    groups: { basePids: () => [shell], addGroup: () => group },
    scratch: Buffer.alloc(4096),
    paces: { entries: { next: async () => {} } },
    descriptors: { commands: { take: () => true, give() {} }, use: (act: () => unknown) => act() },
  } as unknown as RunnerHost;
  const hello = (name: string) => {
    const request = openFifo(join(dir, `${name}.req`), 'read');
    const line = Buffer.alloc(4096);
    const nonce = /; n=(\w+);/.exec(line.toString('latin1', 0, readSync(request, line)))![1];
    closeSync(request);
    writeFileSync(join(dir, `${name}.sts`), answer?.(name) ?? `${nonce} h ${shell}\n`);
  };
  const runner = await Runner.create(host, hello, new Promise<never>(() => {}));
  onTestFinished(() => runner.close());
  return { runner, sent };
}

it('a signal waits until the copy of the shell has become the program, however long that takes', async () => {
  const [shell, copy, started] = [program('70'), program('70'), program('71')];
  let inGroup = [shell];
  const { runner, sent } = await runnerIn(shell, () => inGroup);
  // The copy would appear before the signal is sent.
  expect(await runner.signal('SIGINT', false)).toBe(0);
  inGroup = [shell, copy];
  expect(await runner.signal('SIGINT', false)).toBe(0);
  expect(sent).toEqual([]);
  inGroup = [shell, started];
  expect(await runner.signal('SIGINT', false)).toBe(1);
  // A terminal keeps the copy.
  inGroup = [shell, copy, started];
  expect(await runner.signal('SIGTERM', true)).toBe(2);
  expect(sent).toEqual(['SIGINT', 'SIGTERM']);
});

it('that its host has no room for is RESOURCE_EXHAUSTED', async () => {
  await expect(
    runnerIn(
      0,
      () => [],
      (name) => `${name} f 0\n`,
    ),
  ).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: 'the sandbox could not start a runner for the command: it can start no further process',
  });
});
