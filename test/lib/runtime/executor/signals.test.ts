import { describe, expect, it } from 'vitest';
import type { RunningCommand } from '../../../../lib/runtime/runtime.ts';
import { hasEnded, statusOf } from '../../../process-status.ts';
import { command, finish, run } from '../run.ts';
import { openShells, shells } from './shells.ts';

const machines = [
  { host: 'cgroups', machine: openShells({ cgroups: true }) },
  { host: 'no cgroups', machine: openShells() },
];
const within = { timeout: 30_000 };

/** The host's processes with this word in their command line; every test has a number of its own for `sleep`. */
const stateOf = (pid: number) => /^State:\t(.)/m.exec(statusOf(pid))?.[1];
const alive = (pids: readonly number[]) => pids.filter((pid) => !hasEnded(pid));

async function pidsOf(running: RunningCommand, count: number): Promise<number[]> {
  let pids: number[] = [];
  const enough = async () => {
    pids = await running.pids();
    return pids.length >= count;
  };
  await expect.poll(enough, within).toBe(true);
  return pids;
}

describe.each(machines)('signals to a command on a host with $host', ({ machine: { launch } }) => {
  it.each(shells)('that it sends to its own process group reach nothing else, with %s as /bin/sh', async (shell) => {
    const box = await launch(shell);
    const other = await box.exec(command('read line; echo "$line"', { openStdin: true }));
    const result = finish(other);
    for (const ending of ['kill 0', 'kill -9 0', "trap 'kill 0' EXIT; sleep 60 & sleep 0.05", 'kill -STOP 0']) {
      await run(box, ending, { timeoutMs: ending.includes('STOP') ? 200 : 20_000 });
      expect(await run(box, 'echo there'), ending).toMatchObject({ exitCode: 0, stdout: 'there\n' });
    }
    await other.input!.write(Buffer.from('as before\n'));
    expect(await result).toMatchObject({ exitCode: 0, stdout: 'as before\n' });
  });

  it.each(shells)('reach the program at any moment, with %s as /bin/sh', async (shell) => {
    const box = await launch(shell);
    for (const [signal, exitCode] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGUSR1', 138],
    ] as const) {
      for (const more of [{}, { workdir: '/tmp', openStdin: true }]) {
        const running = await box.exec(command('', { argv: ['sleep', '60'], ...more }));
        // At once: the program may not have been started yet.
        const result = finish(running);
        await running.kill(signal);
        expect(await result, signal).toEqual({ exitCode, stdout: '', stderr: '', durationMs: expect.any(Number) });
      }
    }
    const caught = await box.exec(command('trap "echo caught; exit 7" TERM; echo ready; while :; do :; done'));
    const events = caught[Symbol.asyncIterator]();
    await events.next();
    await caught.kill('SIGTERM');
    expect((await events.next()).value).toMatchObject({ data: Buffer.from('caught\n') });
    expect((await events.next()).value).toMatchObject({ kind: 'exit', exitCode: 7, outOfMemory: false });
    await caught.kill('SIGKILL');
    expect(await run(box, 'echo again')).toMatchObject({ stdout: 'again\n', exitCode: 0 });
  });

  it('reach processes in other sessions, and stop and continue them', async () => {
    const box = await launch();
    const others = await box.exec(command('sleep 60'));
    const [other] = await pidsOf(others, 1);
    const running = await box.exec(command('setsid sleep 60 & (sh -c "(sleep 60 &) &" &); sleep 60'));
    const result = finish(running);
    const pids = await pidsOf(running, 4);
    await running.kill('SIGSTOP');
    // D: the parent of a stopped child that has not called exec(2) yet, after vfork(2).
    const stopped = () => alive(pids).every((pid) => /[TD]/.test(stateOf(pid) ?? ''));
    await expect.poll(stopped, within).toBe(true);
    expect(stateOf(other!)).not.toBe('T');
    await running.kill('SIGCONT');
    await expect.poll(() => alive(pids).map(stateOf), within).not.toContain('T');
    await running.kill('SIGTERM');
    expect(await result).toMatchObject({ exitCode: 143 });
    await expect.poll(() => alive(pids), within).toEqual([]);
    expect(await running.pids()).toEqual([]);
    await running.endLeftBehind?.();
    expect(alive([other!])).toEqual([other]);
    await others.kill('SIGKILL');
    expect(await finish(others)).toMatchObject({ exitCode: 137, stdout: '', stderr: '' });
  });

  it('SIGKILL ends all processes, also stopped ones, and is reported once as 137', async () => {
    const box = await launch();
    const text = 'echo out; setsid sleep 60 & (sh -c "(sleep 60 &) &" &); trap "" TERM; sleep 60; sleep 60';
    const running = await box.exec(command(text));
    const pids = await pidsOf(running, 4);
    await running.kill('SIGSTOP');
    await Promise.all([running.kill('SIGKILL'), running.kill('SIGKILL')]);
    expect(alive(pids)).toEqual([]);
    expect(await finish(running)).toMatchObject({ exitCode: 137, stdout: 'out\n', stderr: '' });
    await running.kill('SIGKILL');
    expect(await run(box, 'echo again')).toMatchObject({ stdout: 'again\n', exitCode: 0 });
  });

  it('are not sent after the end, and what is left in the background is ended apart', async () => {
    const box = await launch();
    const text = 'setsid sleep 60 >/dev/null 2>&1 & sleep 60 & sleep 60 & read -r a; exit 5';
    const running = await box.exec(command(text, { openStdin: true }));
    const result = finish(running);
    const pids = await pidsOf(running, 4);
    await running.endLeftBehind?.();
    running.input?.end();
    expect(await result).toMatchObject({ exitCode: 5 });
    const left = alive(pids).length;
    expect(left).toBeGreaterThanOrEqual(3);
    await running.kill('SIGKILL');
    await running.kill('SIGTERM');
    expect(alive(pids)).toHaveLength(left);
    // The next command has a runner of its own.
    const next = await box.exec(command('sleep 60'));
    const [other] = await pidsOf(next, 1);
    await running.endLeftBehind?.();
    expect(alive(pids)).toEqual([]);
    await running.endLeftBehind?.();
    expect(alive([other!])).toEqual([other]);
    await next.kill('SIGKILL');
  });

  it('leave an ended command’s runner to the next one', async () => {
    const box = await launch();
    const first = await box.exec(command('echo $PPID'));
    const { stdout } = await finish(first);
    const second = await box.exec(command('echo $PPID; sleep 60'));
    const events = second[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ data: Buffer.from(stdout) });
    await first.kill('SIGKILL');
    await first.endLeftBehind?.();
    await second.kill('SIGTERM');
    expect((await events.next()).value).toMatchObject({ kind: 'exit', exitCode: 143 });
  });
});

describe('a fork bomb in a command', () => {
  it('is ended by SIGKILL with nothing left', async () => {
    const box = await machines[0]!.machine.launch();
    const bomb =
      'f() { sleep 60 & setsid sh -c "(sleep 60 &) & (sleep 60 &)" & }; i=0; while :; do f; i=$((i+1)); [ $i -gt 100 ] && sleep 0.05; done';
    const running = await box.exec(command(bomb));
    const result = finish(running);
    await pidsOf(running, 100);
    await running.kill('SIGKILL');
    expect(await result).toMatchObject({ exitCode: 137 });
    const left = await run(box, 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 60"; :');
    // grep's own pattern is in one command line.
    expect(left.stdout).toBe('1\n');
  });
});
