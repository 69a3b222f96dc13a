import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { innerPid } from '../../../../lib/linux/inner-pid.ts';
import { isEnding } from '../../../../lib/runtime/bwrap/is-ending.ts';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { hasEnded, statusOf } from '../../../process-status.ts';
import { command, finish, run } from '../run.ts';
import { until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();

const parentOf = (pid: number) => Number(/^PPid:\t(\d+)$/m.exec(statusOf(pid))?.[1]);

/** Starts a command. `shell`: the host pid of the shell that runs it. */
async function start(sandbox: RunningSandbox, text: string) {
  const running = await sandbox.exec(command(text));
  let pids: readonly number[] = [];
  await until('it runs', async () => {
    pids = await running.pids();
    return pids.length > 0;
  });
  return { result: finish(running), shell: parentOf(pids[0]!) };
}

// The process that is stopped reports the end, as late as on a busy host.
it.each<[name: string, stopped: (init: number) => number, kill: (sandbox: RunningSandbox, init: number) => unknown]>([
  ['first process', parentOf, (_, init) => process.kill(init, 'SIGKILL')],
  ['agent', (init) => init, (sandbox) => void run(sandbox, 'kill -9 -1')],
])(
  'the end of a sandbox by that of its %s is the reason for that of a command, however late it is known',
  async (...row) => {
    const [, stoppedOf, kill] = row;
    const sandbox = await bwrap.launch();
    const { result, shell } = await start(sandbox, 'sleep 60');
    const init = sandbox.networkPid();
    const stopped = stoppedOf(init);
    process.kill(stopped, 'SIGSTOP');
    await until('its stop', () => /^State:\tT/m.test(statusOf(stopped)));
    kill(sandbox, init);
    await until('the end of its shell', () => hasEnded(shell));
    expect(await Promise.race([result, delay(300, 'none')])).toBe('none');
    process.kill(stopped, 'SIGCONT');
    expect(await result).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/main process ended/) });
  },
);

it('a sandbox is not taken for ending when its processes cannot be read', async () => {
  const ends = (pids: unknown[], alive = true) =>
    isEnding({ alive }, process.pid, { basePids: () => pids as number[] });
  expect([await ends([]), await ends([process.ppid], false)]).toEqual([true, true]);
  // No directory, so that reading fails as it does without a free descriptor.
  expect(await ends(['version'])).toBe(false);
  expect(await isEnding({ alive: true }, undefined, { basePids: () => [] })).toBe(false);
});

it('a command whose shell is killed before it reads it has not begun', async () => {
  const sandbox = await bwrap.launch();
  const inner = Number((await run(sandbox, 'echo $PPID')).stdout);
  const init = sandbox.networkPid();
  const children = readFileSync(`/proc/${init}/task/${init}/children`, 'latin1').trim().split(' ').map(Number);
  const idle = children.find((pid) => innerPid(pid) === inner)!;
  process.kill(idle, 'SIGSTOP');
  // Until then it could still read.
  await until('its stop', () => /^State:\tT/m.test(statusOf(idle)));
  const never = await sandbox.exec(command('touch /tmp/begun'));
  process.kill(idle, 'SIGKILL');
  expect(await finish(never)).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/has not begun/) });
  expect(await run(sandbox, 'ls /tmp; kill -9 $PPID; sleep 60')).toMatchObject({ stdout: '', exitCode: 137 });
});
