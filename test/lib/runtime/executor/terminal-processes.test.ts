import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { until, useBwrap } from '../bwrap/fixture.ts';
import { command, run } from '../run.ts';
import { openTerminal, SIZE } from './open-terminal.ts';

const bwrap = useBwrap();
let box: RunningSandbox;
beforeAll(async () => {
  box = await bwrap.launch();
});

/** User and system time of a host process in clock ticks (proc(5)). */
const ticks = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
};
/** The shell that waits, the program that opened the terminal and its copier, and the command. */
const OWN_PROCESSES = 4;

describe('the processes of a terminal', () => {
  it('a signal reaches the command and not what passes its bytes', async () => {
    const terminal = await openTerminal(box, 'trap "echo caught" TERM USR1 HUP; echo up; while :; do sleep 0.05; done');
    await terminal.shown('up');
    for (const signal of ['SIGTERM', 'SIGUSR1', 'SIGHUP'] as const) {
      await terminal.running.kill(signal);
      await terminal.shown('caught');
    }
    await terminal.running.kill('SIGSTOP');
    await terminal.running.kill('SIGCONT');
    await terminal.running.kill('SIGTERM');
    await terminal.shown('caught');
    await terminal.running.kill('SIGKILL');
    expect(await terminal.ended).toBe(137);
    expect(await terminal.running.pids()).toEqual([]);
  });

  it('a killed terminal leaves no process, whatever the command started', async () => {
    const terminal = await openTerminal(
      box,
      'setsid sleep 7654321 & (sleep 7654321 &) ; nohup sleep 7654321 & echo up; cat',
    );
    await terminal.shown('up');
    const pids = await terminal.running.pids();
    expect(pids.length).toBeGreaterThanOrEqual(OWN_PROCESSES);
    await terminal.running.kill('SIGKILL');
    expect(await terminal.ended).toBe(137);
    const left = await run(box, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; :");
    expect(left.stdout).not.toMatch(/7654321|ptmx/);
  });

  it('an open terminal without input and output uses no CPU', async () => {
    const terminal = await openTerminal(box, 'exec >/dev/null 2>&1 </dev/null; touch up; exec sleep 1000');
    const count = async () => (await terminal.running.pids()).length;
    await until(
      'only its own processes are left',
      async () => (await run(box, 'ls')).stdout.includes('up') && (await count()) === OWN_PROCESSES,
    );
    const pids = await terminal.running.pids();
    // Long enough for a loop to use many ticks of 10 ms.
    const isIdle = async () => {
      const before = pids.map(ticks);
      await run(box, 'sleep 1');
      return pids.map(ticks).join() === before.join();
    };
    await until('a second passes without CPU time', isIdle);
    await terminal.running.kill('SIGKILL');
    expect(await terminal.ended).toBe(137);
  });

  it('^C arrives while nobody reads the output', async () => {
    const running = await box.exec({ ...command('echo up; exec yes'), terminal: SIZE });
    const events = running[Symbol.asyncIterator]();
    await events.next();
    await running.input!.write(Buffer.from('\x03'));
    let last = await events.next();
    while (!last.done && last.value.kind === 'output') last = await events.next();
    expect(last.value).toMatchObject({ kind: 'exit', exitCode: 130 });
  });
});

describe('the terminals of a sandbox', () => {
  it('are no other sandbox’s and not the host’s, and nobody types into them', async () => {
    const [first, other] = [await bwrap.launch(), await bwrap.launch()];
    const [one, two] = [await openTerminal(first, 'tty; cat'), await openTerminal(other, 'tty; cat')];
    for (const each of [one, two]) await each.shown('/dev/pts/0');
    const write = await run(other, 'ls /dev/pts; for f in /dev/pts/[0-9]*; do echo planted >$f; done');
    expect(write).toMatchObject({ stdout: '0\nptmx\n', exitCode: 0 });
    await two.shown('planted');
    const inject = 'perl -e \'open(T, "+<", "/dev/tty"); my $x = "x"; ioctl(T, 0x5412, $x) or print 0 + $!\'';
    expect(await run(other, inject, { terminal: SIZE })).toMatchObject({ stdout: '1' });
    await one.type('line\n');
    await one.shown('line');
    expect(one.text()).not.toContain('planted');
    for (const each of [one, two]) await each.running.kill('SIGKILL');
  });
});

describe('a sandbox at its limit of processes', () => {
  it('opens no terminal and says so, or runs the command', async () => {
    const small = await bwrap.launch({ pids_limit: 24 });
    const results = await Promise.all(
      Array.from({ length: 12 }, () => run(small, 'sleep 0.5; echo ran', { terminal: SIZE })),
    );
    for (const { code, stdout } of results) {
      if (code === undefined) expect(stdout).toMatch(/ran|annot fork/);
      else expect(code).toBe('RESOURCE_EXHAUSTED');
    }
    await until(
      'a terminal opens again',
      async () => (await run(small, 'echo ran', { terminal: SIZE })).stdout === 'ran\r\n',
    );
  });
});
