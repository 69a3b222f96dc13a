import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Command, RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { NO_SPAWNER, until, useBwrap } from '../bwrap/fixture.ts';
import { type Result, run } from '../run.ts';
import { ERRNOS, type ErrnoName, hostCalls } from './host-calls.ts';

vi.mock('node:fs', async (original) => {
  const { hostCalls } = await import('./host-calls.ts');
  return hostCalls.wrap(await original<typeof import('node:fs')>());
});

vi.mock('node:fs/promises', async (original) => {
  const { hostCalls } = await import('./host-calls.ts');
  return hostCalls.wrapPromises(await original<typeof import('node:fs/promises')>());
});

vi.mock('node:child_process', async (original) => {
  const { hostCalls } = await import('./host-calls.ts');
  return hostCalls.wrapProcesses(await original<typeof import('node:child_process')>());
});

/** The spawner makes no call of this process but writes to a pipe. */
const bwrap = useBwrap(NO_SPAWNER);
let beside: RunningSandbox;
beforeAll(async () => {
  beside = await bwrap.launch();
});

/** An unhandled error in one of these steps fails the test run, because it would end the server. */
const unhandled: unknown[] = [];
const collect = (error: unknown) => unhandled.push(error);
beforeAll(() => void process.on('unhandledRejection', collect).on('uncaughtException', collect));
afterAll(() => {
  process.off('unhandledRejection', collect).off('uncaughtException', collect);
  expect(unhandled).toEqual([]);
});

/** Makes every call fail once in each of `passes` passes, with alternating errnos. */
async function everyCall(passes: number, once: (fail: (of: () => Promise<void>) => Promise<string>) => Promise<void>) {
  for (let pass = 0; pass < passes; pass++) {
    let fired = '';
    let nth = 1;
    do {
      await once(async (attempt) => {
        hostCalls.arm(nth, ERRNOS[(nth + pass) % ERRNOS.length] as ErrnoName);
        try {
          await attempt();
        } finally {
          fired = hostCalls.disarm();
        }
        return fired;
      });
      nth++;
    } while (fired !== '');
    expect(nth).toBeGreaterThan(3);
  }
}

/** The shell of a launcher; the descriptors that this process has inherited decide between the two. */
const LAUNCHER = /^\/bin\/(ba)?sh$/;

const TOLD = /^(RESOURCE_EXHAUSTED|UNAVAILABLE|FAILED_PRECONDITION)$/;

describe('a failed host call', () => {
  const commands: readonly [
    name: string,
    passes: number,
    text: string,
    more: Partial<Command>,
    ends: Partial<Result>,
  ][] = [
    ['a short command', 6, 'echo out; echo err >&2', {}, { stdout: 'out\n', stderr: 'err\n' }],
    [
      'a command with stdin and a long environment',
      3,
      'cat; printf %.1s "$A"',
      { stdin: 'in', env: { A: 'x'.repeat(9000) } },
      { stdout: 'inx' },
    ],
    ['a command past its timeout', 2, 'sleep 60', { timeoutMs: 30 }, { code: 'DEADLINE_EXCEEDED' }],
    ['a command that leaves a process behind', 1, 'sleep 60 & echo out', {}, { stdout: 'out\n' }],
  ];
  it.each(commands)('in %s ends only that command', async (_, passes, text, more, ends) => {
    let sandbox = await bwrap.launch();
    let dead = false;
    const watch = () => void sandbox.exited.then(() => (dead = true));
    watch();
    await everyCall(passes, async (fail) => {
      let result: Result | undefined;
      const fired = await fail(async () => {
        result = await run(sandbox, text, more);
      });
      if (result?.code === undefined || result.code === 'DEADLINE_EXCEEDED') expect(result, fired).toMatchObject(ends);
      else expect(result.code, fired).toMatch(TOLD);
      expect(await run(beside, 'echo on'), fired).toMatchObject({ stdout: 'on\n' });
      const next = dead ? undefined : await run(sandbox, 'echo next');
      // Its end may not be known yet.
      if (next?.code !== undefined) await until(`the end after ${fired}`, () => dead);
      else if (next) expect(next, fired).toMatchObject({ stdout: 'next\n' });
      if (!dead) return;
      await sandbox.stop();
      sandbox = await bwrap.launch();
      dead = false;
      watch();
    });
  });

  it('in a launch or a stop fails only that operation, and leaves nothing', async () => {
    const before = readdirSync('/proc/self/fd').length;
    await everyCall(1, async (fail) => {
      const spec = bwrap.spec({ pids_limit: 64 });
      let stopped: RunningSandbox | undefined;
      const fired = await fail(async () => {
        try {
          stopped = await bwrap.runtime.launch(spec);
          await stopped.stop();
        } catch (error) {
          expect(error, String((error as Error).stack)).toMatchObject({ code: expect.stringMatching(TOLD) });
        }
      });
      expect(await run(beside, 'echo on'), fired).toMatchObject({ stdout: 'on\n' });
      const again = await bwrap.runtime.launch(spec);
      expect(await run(again, 'echo again'), fired).toMatchObject({ stdout: 'again\n' });
      await again.stop();
    });
    await until('descriptors are closed', () => readdirSync('/proc/self/fd').length <= before + 6);
  });

  it.each(['EAGAIN', 'EMFILE', 'ENOMEM'] as const)(
    '%s at a spawn fails that launch, or no launch if it was for a spare',
    async (errno) => {
      let pids = 100;
      // The limits differ from those before, so there is no spare and this launch has to start a shell.
      const launch = () => bwrap.launch({ pids_limit: pids });
      pids += ERRNOS.indexOf(errno);
      hostCalls.arm(1, errno, LAUNCHER);
      await expect(launch()).rejects.toMatchObject({ code: expect.stringMatching(TOLD) });
      expect(hostCalls.disarm()).toMatch(new RegExp(`^spawn /bin/(ba)?sh ${errno}$`));
      hostCalls.arm(2, errno, LAUNCHER);
      expect(await run(await launch(), 'echo up')).toMatchObject({ stdout: 'up\n' });
      await until('the start of a spare fails', () => hostCalls.fired !== '');
      expect(await run(await launch(), 'echo up')).toMatchObject({ stdout: 'up\n' });
      expect(await run(beside, 'echo on')).toMatchObject({ stdout: 'on\n' });
    },
  );
});
