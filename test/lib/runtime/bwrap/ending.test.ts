import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { createBwrapRuntime } from '../../../../lib/runtime/bwrap/index.ts';
import { instanceDir } from '../../../../lib/runtime/bwrap/instance.ts';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { atTimeout } from '../../../at-timeout.ts';
import { command, run, withIdleShells } from '../run.ts';
import { runtimeCgroups, until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();
let box: RunningSandbox;
beforeAll(async () => {
  box = await bwrap.launch();
});

/** The ways in which a hostile command may start processes that outlive it; each child is recognisable by its argument. */
const ESCAPES = (seconds: number) =>
  [
    'trap "" TERM INT HUP',
    `setsid sleep ${seconds} &`,
    `(setsid sh -c 'trap "" TERM; sleep ${seconds} & sleep ${seconds}' &)`,
    `(sh -c '(sleep ${seconds} &) &' &)`,
    `nohup sleep ${seconds} >/dev/null 2>&1 &`,
    'echo started',
    `while :; do sleep ${seconds}; done`,
  ].join('\n');
const alive = async (sandbox: RunningSandbox, seconds: number) =>
  (await run(sandbox, `grep -alx -- 'sleep.${seconds}.' /proc/[0-9]*/cmdline; :`)).stdout.split('\n').length - 1;

/** Returns the host processes of a uid, in any cgroup. */
function processesOf(uid: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const status = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/status`, 'latin1') : '';
      // A zombie of a killed server only waits for the machine's init.
      return status.includes(`\nUid:\t${uid}\t`) && !status.includes('State:\tZ');
    } catch {
      return false;
    }
  });
}

describe('a command past its timeout', () => {
  it('is killed with every process that it started, and no other process is killed', async () => {
    await run(box, 'setsid sleep 4321 >/dev/null 2>&1 &');
    const other = run(box, 'while [ ! -e /tmp/ended ]; do sleep 0.05; done; echo unharmed', { timeoutMs: 60_000 });
    const result = await atTimeout(
      (seconds) => run(box, ESCAPES(1234), { timeoutMs: seconds * 1000 }),
      ({ stdout }) => stdout !== '',
    );
    expect(result).toMatchObject({ code: 'DEADLINE_EXCEEDED', stdout: 'started\n' });
    expect(await alive(box, 1234)).toBe(0);
    expect(await alive(box, 4321)).toBeGreaterThan(0);
    await run(box, 'touch /tmp/ended');
    expect(await other).toMatchObject({ stdout: 'unharmed\n', exitCode: 0 });
  });

  it('delivers its earlier output, and later commands run', async () => {
    const result = await atTimeout(
      (seconds) => run(box, 'head -c 200000 /dev/zero; echo err >&2; sleep 60', { timeoutMs: seconds * 1000 }),
      ({ stderr }) => stderr !== '',
    );
    expect([result.stdout.length, result.stderr, result.code]).toEqual([200_000, 'err\n', 'DEADLINE_EXCEEDED']);
    expect(await run(box, 'echo next')).toMatchObject({ stdout: 'next\n' });
  });

  it('is reported although its output is not read completely', async () => {
    const execution = await box.exec(command('yes', { timeoutMs: 200 }));
    await until('nothing of it runs', async () => (await run(box, 'pgrep -x yes')).exitCode === 1);
    await expect(
      (async () => {
        for await (const _ of execution);
      })(),
    ).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });
});

describe('a cancelled command', () => {
  it('is killed with every process that it started when its signal aborts', async () => {
    const abort = new AbortController();
    const execution = await box.exec(command(ESCAPES(2345), { signal: abort.signal }));
    const events = execution[Symbol.asyncIterator]();
    await events.next();
    abort.abort();
    await expect(events.next()).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await alive(box, 2345)).toBe(0);
  });

  it('is never started if its signal was already aborted', async () => {
    const signal = AbortSignal.abort();
    await expect(box.exec(command('touch /tmp/started', { signal }))).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await run(box, 'test -e /tmp/started')).toMatchObject({ exitCode: 1 });
  });

  it('is killed when its consumer leaves the loop over its events', async () => {
    for await (const event of await box.exec(command(ESCAPES(3456)))) {
      expect(event.kind).toBe('output');
      break;
    }
    await until('all of it is gone', async () => (await alive(box, 3456)) === 0);
  });

  it('is killed while its stdin is not read', async () => {
    const abort = new AbortController();
    const result = run(box, 'sleep 60', { stdin: 'x'.repeat(1_000_000), signal: abort.signal });
    setImmediate(() => abort.abort());
    expect(await result).toMatchObject({ code: 'CANCELLED' });
  });
});

describe('stop', () => {
  it('of a sandbox kills every process and releases all resources', async () => {
    const spec = bwrap.spec({ memory_bytes: 1 << 28, pids_limit: 50, cpu_quota: 50_000, cpu_shares: 512 });
    const sandbox = await bwrap.runtime.launch(spec);
    await run(sandbox, `(${ESCAPES(5678)}) >/dev/null 2>&1 &`);
    const running = run(sandbox, 'sleep 60');
    expect(runtimeCgroups(bwrap.stateDir, spec.id).length).toBeGreaterThan(0);
    await sandbox.stop();
    expect(await running).toMatchObject({ code: 'UNAVAILABLE' });
    expect(processesOf(spec.uid)).toEqual([]);
    expect(runtimeCgroups(bwrap.stateDir, spec.id)).toEqual([]);
    expect(existsSync(spec.runDir)).toBe(false);
    expect(await run(sandbox, 'true')).toMatchObject({ code: 'UNAVAILABLE' });
    await sandbox.stop();
  });

  it('of many sandboxes at once leaves nothing, not even descriptors', async () => {
    const fds = () => readdirSync('/proc/self/fd').length;
    await Promise.all(Array.from({ length: 3 }, async () => (await bwrap.launch()).stop()));
    const before = fds();
    const boxes = await Promise.all(Array.from({ length: 25 }, () => bwrap.launch()));
    await Promise.all(boxes.map((each) => run(each, 'sleep 300 & yes >/dev/null &')));
    await Promise.all(boxes.map((each) => each.stop()));
    // Two for each spare launcher that may exist now.
    await until('descriptors are closed', () => fds() <= before + 4);
  });

  it('of a sandbox is not reported as an unexpected end', async () => {
    const sandbox = await bwrap.launch();
    await sandbox.stop();
    const told = await Promise.race([sandbox.exited, new Promise((resolve) => setTimeout(resolve, 50, 'silent'))]);
    expect(told).toBe('silent');
  });
});

describe('the unexpected end of a sandbox', () => {
  it('is reported once, with a reason, and ends running commands with UNAVAILABLE', async () => {
    const sandbox = await bwrap.launch();
    const running = run(sandbox, 'echo out; sleep 60');
    await run(sandbox, 'kill -9 -1');
    expect(await sandbox.exited).toMatch(/main process ended/);
    expect(await running).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await run(sandbox, 'true')).toMatchObject({ code: 'UNAVAILABLE' });
    await sandbox.stop();
  });

  it('is not caused by the death of a runner, whose command ends with 137', async () => {
    expect(await run(box, 'echo out; kill -9 $PPID; sleep 60')).toMatchObject({ exitCode: 137, stdout: 'out\n' });
    expect(await run(box, 'echo next')).toMatchObject({ stdout: 'next\n' });
  });

  it('is caused by garbage in the agent’s pipes', async () => {
    for (const garbage of ['garbage\\n', '0123456789abcdef x 0\\n', `%${'01000'}d`]) {
      const sandbox = await bwrap.launch();
      await run(sandbox, `sleep 5 & for fd in /proc/$PPID/fd/9; do printf '${garbage}' >$fd; done; sleep 60`, {
        timeoutMs: 5000,
      });
      expect(await sandbox.exited).toMatch(/tampered/);
      await sandbox.stop();
    }
  });

  it('is caused by a forged message of a runner', async () => {
    const sandbox = await bwrap.launch();
    await run(sandbox, 'for fd in /proc/$PPID/fd/1[0-9]; do [ -p $fd ] && echo "echo x >&9" >$fd; done; :');
    expect(await sandbox.exited).toMatch(/tampered/);
    await sandbox.stop();
    expect(await run(box, 'echo other sandboxes go on')).toMatchObject({ exitCode: 0 });
  });

  it('is not caused by a stopped agent; commands that need it keep their timeout and can be cancelled', async () => {
    const sandbox = await bwrap.launch();
    // Runners for the three commands that must not need the agent.
    await withIdleShells(sandbox, 3);
    const abort = new AbortController();
    const cancelled = run(sandbox, 'sleep 60', { signal: abort.signal });
    const busy = run(sandbox, 'kill -STOP 2; sleep 60', { timeoutMs: 3000 });
    await until('the agent is stopped', async () =>
      /^State:\tT/m.test((await run(sandbox, 'cat /proc/2/status')).stdout),
    );
    const late = await Promise.all(Array.from({ length: 9 }, () => run(sandbox, 'sleep 60', { timeoutMs: 300 })));
    expect(late.every((each) => each.code === 'DEADLINE_EXCEEDED')).toBe(true);
    abort.abort();
    expect(await cancelled).toMatchObject({ code: 'CANCELLED' });
    expect(await busy).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await sandbox.stop();
  });

  it('is not caused by the death of an idle runner', async () => {
    const sandbox = await bwrap.launch();
    await withIdleShells(sandbox, 3);
    await run(
      sandbox,
      `for p in /proc/[0-9]*; do case $(tr '\\0' ' ' <$p/cmdline) in *.req*) echo $p;; esac; done |
      grep -vx /proc/$PPID | while read p; do kill -9 \${p#/proc/}; while [ -e $p/fd/9 ]; do sleep 0.02; done; done`,
    );
    // Their pipes have ended. The server, which is this process, reads that in its next turns.
    await delay(100);
    for (let round = 0; round < 5; round++) {
      expect(await run(sandbox, 'echo on')).toMatchObject({ stdout: 'on\n', exitCode: 0 });
    }
    await sandbox.stop();
  });
});

describe('reclaim', () => {
  it('kills and removes the remains of another server on the same state', async () => {
    const other = useless(`${bwrap.stateDir}/other`);
    await other.probe();
    const spec = bwrap.spec({ memory_bytes: 1 << 28 });
    const left = await other.launch(spec);
    await run(left, ESCAPES(6789), { timeoutMs: 100 });
    const next = useless(`${bwrap.stateDir}/other`);
    await next.reclaim();
    expect(await left.exited).toMatch(/main process ended/);
    expect(processesOf(spec.uid)).toEqual([]);
    expect(runtimeCgroups(`${bwrap.stateDir}/other`, '')).not.toEqual([]);
    expect(runtimeCgroups(`${bwrap.stateDir}/other`, spec.id)).toEqual([]);
    const again = await next.launch(spec);
    expect(await run(again, 'echo again')).toMatchObject({ stdout: 'again\n' });
    await again.stop();
    await next.close?.();
    expect(existsSync(instanceDir(`${bwrap.stateDir}/other`, true))).toBe(false);
    expect(runtimeCgroups(`${bwrap.stateDir}/other`, '')).toEqual([]);
  });

  const useless = (stateDir: string) => createBwrapRuntime({ bwrapPath: '/usr/bin/bwrap', stateDir, log: silentLog });
});
