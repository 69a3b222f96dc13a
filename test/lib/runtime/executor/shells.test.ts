import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';
import { openShells, shells } from './shells.ts';

const { launch } = openShells();

describe.each(shells)('with %s as /bin/sh and no cgroups', (shell) => {
  it('commands run, get stdin, end and are isolated', async () => {
    const box = await launch(shell);
    const nasty = `'"$(id)\n\\ é`;
    const env = { A: nasty, UID: '5', IFS: ',' };
    expect(await run(box, 'printf %s "$A"; printf %s "$A" >&2; exit 7', { env })).toMatchObject({
      stdout: nasty,
      stderr: nasty,
      exitCode: 7,
    });
    expect(await run(box, 'kill -9 $$')).toMatchObject({ stdout: '', stderr: '', exitCode: 137 });
    expect(await run(box, 'cat; pwd', { stdin: 'x'.repeat(200_000), workdir: '/tmp' })).toMatchObject({
      stdout: `${'x'.repeat(200_000)}/tmp\n`,
    });
    expect(await run(box, 'pwd', { workdir: 'nope' })).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await run(box, `: ${'y'.repeat(100_000)}; echo long`)).toMatchObject({ stdout: 'long\n' });
    // busybox ignores SIGQUIT (4) in the last program that it execs.
    expect((await run(box, 'grep ^SigIgn /proc/self/status')).stdout).toMatch(/0{15}[04]$/m);
    const both = await Promise.all([run(box, 'sleep 0.2; echo a'), run(box, 'sleep 0.2; echo b')]);
    expect(both.map((each) => each.stdout)).toEqual(['a\n', 'b\n']);
  });

  it('the processes of a command are killed, and others continue', async () => {
    const box = await launch(shell);
    await run(box, 'setsid sleep 4321 >/dev/null 2>&1 &');
    const escapes =
      'trap "" TERM; setsid sleep 1234 & (sh -c "(sleep 1234 &) &" &); nohup sleep 1234 >/dev/null 2>&1 & sleep 1234';
    expect(await run(box, escapes, { timeoutMs: 300 })).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    const left = await run(
      box,
      "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep [0-9][0-9]*' | sort | uniq -c; :",
    );
    expect(left.stdout).toMatch(/^ *1 sleep 4321\n$/);
  });
});
