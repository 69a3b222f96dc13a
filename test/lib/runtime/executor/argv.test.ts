import { describe, expect, it } from 'vitest';
import type { Command, RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { run } from '../run.ts';
import { openShells, shells } from './shells.ts';

const { launch } = openShells();

const runArgv = (box: RunningSandbox, argv: string[], more: Partial<Command> = {}) => run(box, '', { argv, ...more });

describe.each(shells)('argv with %s as /bin/sh', (shell) => {
  it('is passed to a program of PATH as it is', async () => {
    const box = await launch(shell);
    const nasty = ['', ' ', '-n', "it's", '"$(id)"', '\\', 'a\nb\n', '*', '~', '$HOME', 'é\u{1f600}', '\u0001\u007f'];
    const quoted = await runArgv(box, ['printf', '%s\\0', ...nasty]);
    expect(quoted).toMatchObject({ stdout: nasty.map((each) => `${each}\0`).join(''), stderr: '', exitCode: 0 });
    const many = Array.from({ length: 3000 }, (_, at) => `${at}'`);
    expect((await runArgv(box, ['printf', '%s\n', ...many])).stdout).toBe(many.map((each) => `${each}\n`).join(''));
    // A builtin or a keyword of the shell is no program.
    for (const name of ['cd', 'eval', 'if', ':', 'missing', 'a b', "a'b"]) {
      expect(await runArgv(box, [name, '/']), name).toMatchObject({ stdout: '', exitCode: 127 });
    }
    const missing = { stdout: '', stderr: '/bin/sh: missing: not found\n', exitCode: 127 };
    expect(await runArgv(box, ['missing'])).toMatchObject(missing);
    expect(await runArgv(box, ['missing'], { stdin: 'x', workdir: '/tmp', env: { A: 'b' } })).toMatchObject(missing);
    expect(await runArgv(box, ['printenv', 'A'], { env: { A: 'b', PATH: '/nowhere' } })).toMatchObject({
      stderr: '/bin/sh: printenv: not found\n',
    });
    expect(await runArgv(box, ["a'%s\\b"])).toMatchObject({ stderr: "/bin/sh: a'%s\\b: not found\n" });
    expect(await runArgv(box, ['/tmp'])).toMatchObject({ exitCode: 126 });
    expect(await runArgv(box, [''])).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await runArgv(box, ['printf', 'a\0b'])).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('gets stdin, workdir and env, with names that shells own and a PATH of its own', async () => {
    const box = await launch(shell);
    expect(await runArgv(box, ['cat', '-'], { stdin: 'in', workdir: '/tmp' })).toMatchObject({ stdout: 'in' });
    expect(await runArgv(box, ['pwd'], { workdir: '/tmp' })).toMatchObject({ stdout: '/tmp\n' });
    const env = { A: "x'y", IFS: ',', UID: '5', PS4: '$(id)' };
    for (const [name, value] of Object.entries(env)) {
      expect(await runArgv(box, ['printenv', name], { env }), name).toMatchObject({ stdout: `${value}\n` });
    }
    for (const name of ['tool', '-tool', 'to=ol']) {
      await run(box, `cat >./${name}; chmod +x ./${name}`, { stdin: '#!/bin/sh\nprintf "%s." "$@" "$A"\n' });
      for (const owned of [{}, { IFS: ',' }]) {
        const used = { env: { ...owned, A: 'a', PATH: '/workspace:/usr/bin:/bin' } };
        expect(await runArgv(box, [name, 'x y', '-z'], used), name).toMatchObject({ stdout: 'x y.-z.a.', exitCode: 0 });
      }
    }
  });

  it('is the only process of its command', async () => {
    const box = await launch(shell);
    const parent = await runArgv(box, ['cat', '/proc/self/status'], { stdin: 'x', workdir: '/tmp' });
    const ppid = /^PPid:\t(\d+)/m.exec(parent.stdout)?.[1];
    // The runner is orphaned at its start: the process that started it may be ending.
    const status = async () => (await runArgv(box, ['cat', `/proc/${ppid}/status`])).stdout;
    await expect.poll(status).toMatch(/^PPid:\t1$/m);
  });
});
