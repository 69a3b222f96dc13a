import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import { RESOURCES, run } from '../run.ts';
import { runtimeCgroups, until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();
const MIB = 1 << 20;

/** Returns the value of a limit's file for a sandbox, from the hierarchy that has it. */
function limitOf(id: string, files: readonly string[]): string | undefined {
  const paths = runtimeCgroups(bwrap.stateDir, id).flatMap((group) => files.map((file) => join(group, file)));
  const path = paths.find((each) => existsSync(each));
  return path && readFileSync(path, 'latin1').trim();
}

describe('memory_bytes', () => {
  it('kills a command above it with 137 and a line on stderr that names the limit', async () => {
    const sandbox = await bwrap.launch({ memory_bytes: 64 * MIB });
    const result = await run(sandbox, 'exec perl -e \'$x = "a" x (1 << 28); sleep 1\'');
    expect(result.exitCode).toBe(137);
    expect(result.stderr).toContain(`memory limit of ${64 * MIB} bytes (memory_bytes)`);
    expect(result.outOfMemory).toBe(true);
    expect(await run(sandbox, 'echo next')).toEqual({
      stdout: 'next\n',
      stderr: '',
      exitCode: 0,
      durationMs: expect.any(Number),
    });
  });

  it('ends one process only: the command that started it continues, and so do other commands of the sandbox', async () => {
    const sandbox = await bwrap.launch({ memory_bytes: 64 * MIB });
    const beside = run(sandbox, 'touch /tmp/began; until [ -e /tmp/over ]; do sleep 0.05; done; echo through');
    const bomb = 'until [ -e /tmp/began ]; do sleep 0.05; done; perl -e \'$x = "a" x (1 << 28)\'; echo "ended: $?"';
    const result = await run(sandbox, `sleep 60 & ${bomb}; kill $! && echo "child lives"; touch /tmp/over`);
    expect(result).toMatchObject({ stdout: 'ended: 137\nchild lives\n', exitCode: 0 });
    expect(await beside).toMatchObject({ stdout: 'through\n', exitCode: 0 });
  });

  it('includes the temporary file systems, and on cgroup v2 the sandbox works again after they are emptied', async () => {
    const spec = bwrap.spec({ memory_bytes: 64 * MIB });
    const sandbox = await bwrap.runtime.launch(spec);
    const result = await run(sandbox, 'cat /dev/zero >/tmp/fill; echo $?');
    expect(result.stderr + result.stdout).toMatch(/memory_bytes|137|No space/);
    // On v1 nothing is reserved for the agent: the shell that would empty it may be killed each time.
    if (limitOf(spec.id, ['memory.max']) !== undefined) {
      await until('it is emptied', async () => (await run(sandbox, ': >/tmp/fill')).exitCode === 0);
      expect(await run(sandbox, 'echo next')).toMatchObject({ stdout: 'next\n', exitCode: 0 });
    }
    await sandbox.stop();
  });

  it('below the minimum of a sandbox is INVALID_ARGUMENT', async () => {
    await expect(bwrap.launch({ memory_bytes: MIB })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('pids_limit', () => {
  it('limits the processes of a command, not counting the service’s own', async () => {
    const sandbox = await bwrap.launch({ pids_limit: 20 });
    const many = await run(
      sandbox,
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do sleep 0.3 & done; wait; echo ok',
    );
    expect(many).toMatchObject({ stdout: 'ok\n', stderr: '' });
    const more = await run(
      sandbox,
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 20 & done; wait',
    );
    expect(more.stderr).toContain('Cannot fork');
  });

  it('limits a fork bomb, which its timeout ends, and the sandbox continues', async () => {
    const sandbox = await bwrap.launch({ pids_limit: 64 });
    const beside = await bwrap.launch();
    const bomb = run(sandbox, '(bomb() { bomb | bomb & }; while :; do bomb; done) 2>/dev/null & exec sleep 60', {
      timeoutMs: 1000,
    });
    for (let round = 0; round < 5; round++) expect(await run(beside, 'echo ok')).toMatchObject({ stdout: 'ok\n' });
    expect(await bomb).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    await until('nothing of it is left', async () => {
      const left = await run(sandbox, 'echo next; ls -d /proc/[0-9]* | wc -l');
      return /^next\n[4-8]\n$/.test(left.stdout);
    });
  });

  it('that one command has reached is RESOURCE_EXHAUSTED for the next, and the sandbox continues', async () => {
    const spec = bwrap.spec({ pids_limit: 10 });
    const sandbox = await bwrap.runtime.launch(spec);
    const abort = new AbortController();
    const holder = run(sandbox, 'i=0; while [ $i -lt 9 ]; do sleep 60 & i=$((i+1)); done; echo >full; wait', {
      signal: abort.signal,
      timeoutMs: 60_000,
    });
    // Observed from outside, because another command would use one of the ten processes.
    await until('the first has all of them', () => existsSync(join(spec.workspace, 'full')));
    await until('another command is refused', async () => {
      const result = await run(sandbox, 'ls | cat | cat | cat');
      return result.code === 'RESOURCE_EXHAUSTED' || result.stderr.includes('Cannot fork');
    });
    abort.abort();
    expect(await holder).toMatchObject({ code: 'CANCELLED' });
    expect(await run(sandbox, 'echo next')).toMatchObject({ stdout: 'next\n' });
    await sandbox.stop();
  });

  it('is not raised for remaining background processes', async () => {
    const sandbox = await bwrap.launch({ pids_limit: 10 });
    for (let round = 0; round < 15; round++) await run(sandbox, 'sleep 60 >/dev/null 2>&1 </dev/null &');
    const count = await run(sandbox, 'set -- $(pgrep -x sleep); echo $#');
    expect(count.code ?? Number(count.stdout)).toSatisfy((n) => n === 'RESOURCE_EXHAUSTED' || n === 0 || n <= 10);
    await sandbox.stop();
  });
});

describe('cpu_quota and cpu_shares', () => {
  it('are set for the whole sandbox before its first process', async () => {
    const spec = bwrap.spec({ cpu_quota: 50_000, cpu_shares: 512 });
    const sandbox = await bwrap.runtime.launch(spec);
    expect(limitOf(spec.id, ['cpu.cfs_quota_us', 'cpu.max'])).toMatch(/^50000( 100000)?$/);
    expect(limitOf(spec.id, ['cpu.shares', 'cpu.weight'])).toMatch(/^(512|59)$/);
    const cpu = await run(sandbox, 'grep -h . /proc/self/cgroup');
    expect(cpu.stdout).not.toContain('paddock');
    await sandbox.stop();
  });

  it.each([
    { cpu_quota: 999 },
    { cpu_quota: -1 },
    { cpu_shares: 1 },
    { cpu_shares: 300_000 },
    { pids_limit: -1 },
    { memory_bytes: -5 },
    { memory_bytes: 1.5e8 + 0.5 },
  ])('out of range are INVALID_ARGUMENT with an error that names the field: %j', async (resources) => {
    await expect(bwrap.launch(resources)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`resources.${Object.keys(resources)[0]}`),
    });
  });
});

it('that the host cannot enforce are FAILED_PRECONDITION with an error that names the limit', () => {
  const tree = new CgroupTree('never-opened');
  expect(tree.create('sb', RESOURCES)).toBeUndefined();
  const asked = { memory_bytes: 1 << 24, cpu_quota: 50_000, cpu_shares: 512, pids_limit: 10 };
  for (const [name, value] of Object.entries(asked)) {
    expect(() => tree.create('sb', { ...RESOURCES, [name]: value })).toThrow(
      expect.objectContaining({ code: 'FAILED_PRECONDITION', message: expect.stringContaining(`resources.${name}`) }),
    );
  }
});
