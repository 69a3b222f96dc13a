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

  it('another shell runs a command, and one that is not there is refused', async () => {
    const box = await launch(shell);
    const words = { env: { A: '1', IFS: ',', PATH: '/nowhere' }, workdir: '/tmp', shell: '/usr/bin/bash' };
    const script = '[[ $BASH == *bash ]] && echo $((2 ** 3)) "$A $PATH $PWD"; echo e >&2';
    expect(await run(box, script, words)).toMatchObject({ stdout: '8 1 /nowhere /tmp\n', stderr: 'e\n' });
    expect(await run(box, script, { ...words, shell: 'bash' })).toMatchObject({ stdout: '8 1 /nowhere /tmp\n' });
    for (const absent of ['zsh-that-is-absent', '/no/such/sh', '/tmp', '/etc/passwd']) {
      expect(await run(box, 'touch /tmp/ran', { shell: absent, stdin: 'x' })).toMatchObject({
        code: 'FAILED_PRECONDITION',
        message: `shell: the sandbox has no program ${JSON.stringify(absent)}`,
      });
    }
    expect(await run(box, 'ls /tmp')).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it('merged streams have the order of the writes', async () => {
    const box = await launch(shell);
    const lines = Array.from({ length: 200 }, (_, index) => `${index}\n`).join('');
    const script = 'i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done';
    expect(await run(box, script, { merge: true })).toMatchObject({ stdout: lines, stderr: '' });
    expect(await run(box, 'echo a; echo b >&2')).toMatchObject({ stdout: 'a\n', stderr: 'b\n' });
  });

  it('a workdir that is the sandbox’s is named as such if it cannot be entered', async () => {
    expect(await run(await launch(shell), 'pwd', { workdir: 'gone', ownWorkdir: true })).toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining('the sandbox’s workdir "gone" cannot be entered'),
    });
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
