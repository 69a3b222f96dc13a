import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { command, run } from '../run.ts';
import { until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();
let box: RunningSandbox;
beforeAll(async () => {
  box = await bwrap.launch();
});
const sha = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

describe('the result of a command', () => {
  it.each([0, 1, 2, 126, 127, 128, 200, 255])('is exit code %i', async (code) => {
    expect(await run(box, `exit ${code}`)).toMatchObject({ exitCode: code, stdout: '', stderr: '' });
  });

  it.each([
    ['HUP', 1],
    ['INT', 2],
    ['QUIT', 3],
    ['KILL', 9],
    ['SEGV', 11],
    ['PIPE', 13],
    ['TERM', 15],
  ])('is 128+N for signal %s, with nothing added to its output', async (name, number) => {
    const result = await run(box, `echo a; echo b >&2; kill -${name} $$`);
    expect(result).toMatchObject({ exitCode: 128 + number, stdout: 'a\n', stderr: 'b\n' });
  });

  it('is 127 for a missing program', async () => {
    expect(await run(box, 'no-such-program')).toMatchObject({ exitCode: 127 });
  });

  it('includes a duration', async () => {
    expect((await run(box, 'sleep 0.05')).durationMs).toBeGreaterThanOrEqual(50);
  });
});

describe('output', () => {
  it('arrives byte for byte, with separate streams', async () => {
    const text = randomBytes(300_000).toString('base64');
    const result = await run(box, 'base64 -d >f; cat f; cat f >&2', { stdin: text }, 'latin1');
    const bytes = Buffer.from(text, 'base64').toString('latin1');
    expect(result.stdout === bytes && result.stderr === bytes).toBe(true);
  });

  it('always arrives completely before the exit code', async () => {
    for (let round = 0; round < 100; round++) {
      const result = await run(box, 'head -c 150000 /dev/zero; head -c 70000 /dev/zero >&2');
      expect([result.stdout.length, result.stderr.length]).toEqual([150_000, 70_000]);
    }
  });

  it('arrives when it is written, not at the end', async () => {
    const abort = new AbortController();
    const execution = await box.exec(command('echo first; sleep 60', { signal: abort.signal }));
    const first = await execution[Symbol.asyncIterator]().next();
    expect(first.value).toMatchObject({ kind: 'output', stream: 'STDOUT', data: Buffer.from('first\n') });
    abort.abort();
  });

  it('may be one line of 100 MB', async () => {
    let bytes = 0;
    for await (const event of await box.exec(command("head -c 100000000 /dev/zero | tr '\\0' x"))) {
      if (event.kind === 'output') bytes += event.data.length;
      else expect(event.exitCode).toBe(0);
    }
    expect(bytes).toBe(100_000_000);
  });

  it('blocks the program while the output is not read, and resumes afterwards', async () => {
    const script = 'i=0; while [ $i -lt 200 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >/tmp/progress; done';
    const execution = await box.exec(command(script));
    const progress = async () => Number((await run(box, 'cat /tmp/progress 2>/dev/null || echo 0')).stdout);
    let seen = -1;
    await until('the program is held back', async () => {
      const before = seen;
      await new Promise((resolve) => setTimeout(resolve, 50));
      seen = await progress();
      return seen > 0 && seen === before;
    });
    expect(seen).toBeLessThan(40);
    let bytes = 0;
    for await (const event of execution) if (event.kind === 'output') bytes += event.data.length;
    expect(bytes).toBe(200 * 65_536);
  });

  it('does not wait for a background child that keeps stdout open, and the child continues', async () => {
    const result = await run(box, 'sleep 300 & echo $! >/tmp/bg; echo now');
    expect(result).toMatchObject({ stdout: 'now\n', exitCode: 0 });
    expect(await run(box, 'kill -0 $(cat /tmp/bg) && kill $(cat /tmp/bg)')).toMatchObject({ exitCode: 0 });
  });

  it('includes output that a child writes shortly after the command', async () => {
    // Within 200 ms, which may be too short on a busy machine.
    const written = async () => (await run(box, '(sleep 0.05; echo late) & echo now')).stdout;
    await until('the late line is there', async () => (await written()) === 'now\nlate\n');
  });

  it('of a background child is still read after its command ended', async () => {
    await run(box, '(trap "" PIPE; while echo x; do sleep 0.01; echo $$ >/tmp/alive; done; touch /tmp/broken) & :');
    await run(box, 'rm -f /tmp/alive');
    await until('it still writes', async () => (await run(box, 'test -e /tmp/alive')).exitCode === 0);
    expect(await run(box, 'test -e /tmp/broken')).toMatchObject({ exitCode: 1 });
  });
});

describe('stdin', () => {
  it('is empty by default', async () => {
    expect(await run(box, 'cat; echo end')).toMatchObject({ stdout: 'end\n' });
  });

  it('contains any text, including NUL', async () => {
    expect(await run(box, 'cat', { stdin: 'a\0b\né\r\n' })).toMatchObject({ stdout: 'a\0b\né\r\n' });
  });

  it('of 50 MB is read completely by a program that reads it', async () => {
    const stdin = 'x'.repeat(50_000_000);
    expect((await run(box, 'sha256sum', { stdin })).stdout).toContain(sha(stdin));
  });

  it('of 50 MB may be ignored', async () => {
    const stdin = 'x'.repeat(50_000_000);
    expect(await run(box, 'echo done', { stdin })).toMatchObject({ stdout: 'done\n', exitCode: 0 });
    expect(await run(box, 'head -c 3', { stdin })).toMatchObject({ stdout: 'xxx', exitCode: 0 });
    expect(await run(box, 'exec <&-; sleep 0.1', { stdin })).toMatchObject({ exitCode: 0 });
  });

  it('works together with a workdir', async () => {
    expect(await run(box, 'pwd; cat', { stdin: 'in', workdir: '/tmp' })).toMatchObject({ stdout: '/tmp\nin' });
  });
});

describe('workdir', () => {
  it('is the workspace by default, and relative to it', async () => {
    await run(box, 'mkdir -p "deep/a b" -- -dash "$(printf "new\nline")"');
    expect((await run(box, 'pwd')).stdout).toBe('/workspace\n');
    expect((await run(box, 'pwd', { workdir: 'deep/a b' })).stdout).toBe('/workspace/deep/a b\n');
    expect((await run(box, 'pwd', { workdir: '-dash' })).stdout).toBe('/workspace/-dash\n');
    expect((await run(box, 'pwd', { workdir: 'new\nline' })).stdout).toBe('/workspace/new\nline\n');
    expect((await run(box, 'pwd', { workdir: '/usr/lib' })).stdout).toBe('/usr/lib\n');
  });

  it('applies to its command only', async () => {
    expect((await run(box, 'pwd; env | grep OLDPWD')).stdout).toBe('/workspace\n');
  });

  it.each(['nope', '/etc/passwd', '/root', '/proc/self/fd/3', "$(touch /tmp/x)'; touch /tmp/x; '"])(
    'that cannot be entered is INVALID_ARGUMENT before the command runs: %s',
    async (workdir) => {
      await expect(box.exec(command('touch /tmp/ran', { workdir }))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
      expect(await run(box, 'test -e /tmp/ran || test -e /tmp/x')).toMatchObject({ exitCode: 1 });
    },
  );
});

describe('a request', () => {
  it('is passed to the command without being parsed', async () => {
    const nasty = `it's "x" $HOME \`id\` \\n $(id)\n;|&<>*?[]{}~#!%\t\r é\u{1f600} -n`;
    const env = {
      V: nasty,
      UID: '7',
      PPID: '8',
      PATH: '/usr/bin',
      IFS: ',',
      BASH_ENV: nasty,
      n: 'n',
      _: '_',
    };
    const result = await run(box, 'printf %s "$V"; printf %s "$V" >&2; env', { env });
    expect(result.stderr).toBe(nasty);
    expect(result.stdout.startsWith(nasty)).toBe(true);
    expect(result.stdout).toContain(`\nBASH_ENV=${nasty}\n`);
    for (const line of ['PATH=/usr/bin', 'n=n']) expect(result.stdout).toContain(`\n${line}\n`);
  });

  it('does not affect the environment of the next command', async () => {
    await run(box, 'true', { env: { LEFT: 'over', UID: '1', BASH_ENV: 'x' } });
    expect((await run(box, 'env')).stdout).not.toMatch(/LEFT|BASH_ENV|UID/);
  });

  it('may have the maximum size of the kernel, including the environment', async () => {
    const text = `: ${'x'.repeat(131_069)}`;
    expect(await run(box, text)).toMatchObject({ exitCode: 0 });
    const env = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`V${index}`, 'y'.repeat(131_000)]));
    expect((await run(box, 'printf %s "$V0$V6" | wc -c', { env })).stdout.trim()).toBe('262000');
  });

  it.each([
    ['a command of 128 KiB', { command: 'x'.repeat(131_072) }],
    ['a NUL in the command', { command: 'a\0b' }],
    ['a variable of 128 KiB', { env: { A: 'x'.repeat(131_072) } }],
    [
      'an environment above 1 MiB',
      { env: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`A${i}`, 'x'.repeat(130_000)])) },
    ],
    ['an invalid variable name', { env: { 'a-b': '1' } }],
    ['an empty name', { env: { '': '1' } }],
    ['a name with an assignment', { env: { 'A=1;B': '1' } }],
    ['a NUL in a value', { env: { A: 'a\0b' } }],
    ['a NUL in the workdir', { workdir: 'a\0b' }],
    ['a workdir of 4096 bytes', { workdir: 'a'.repeat(4096) }],
  ])('with %s is INVALID_ARGUMENT', async (_, more) => {
    await expect(box.exec(command('true', more))).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('concurrent commands', () => {
  it('do not mix their output', async () => {
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        run(box, 'cat; echo $I; sleep 0.05; exit $I', { stdin: `in${index}`, env: { I: `${index}` } }),
      ),
    );
    results.forEach((result, index) => {
      expect(result).toMatchObject({ stdout: `in${index}${index}\n`, exitCode: index });
    });
  });

  it('run in many sandboxes, hundreds at a time', async () => {
    const boxes = await Promise.all(Array.from({ length: 10 }, () => bwrap.launch()));
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => run(boxes[index % 10]!, `echo ${index}; sleep 0.1`)),
    );
    expect(results.map((result) => result.stdout)).toEqual(results.map((_, index) => `${index}\n`));
    await Promise.all(boxes.map((each) => each.stop()));
  });

  it('share the workspace with the host directory', async () => {
    const spec = bwrap.spec();
    const sandbox = await bwrap.runtime.launch(spec);
    writeFileSync(join(spec.workspace, 'f'), 'host');
    expect((await run(sandbox, 'cat f')).stdout).toBe('host');
    await sandbox.stop();
  });
});
