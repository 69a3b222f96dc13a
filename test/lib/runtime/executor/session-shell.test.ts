import { chownSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServiceError } from '../../../../lib/errors.ts';
import type { RunningSandbox, RunningShell } from '../../../../lib/runtime/runtime.ts';
import { until, useBwrap } from '../bwrap/fixture.ts';
import { finish, type Result, run as runCommand } from '../run.ts';

const bwrap = useBwrap();
const never = new AbortController().signal;
let box: RunningSandbox;

beforeAll(async () => {
  const spec = bwrap.spec({ memory_bytes: 256 * 1024 * 1024, pids_limit: 200 });
  if (existsSync('/usr/bin/busybox')) symlinkSync('/usr/bin/busybox', join(spec.workspace, 'ash'));
  chownSync(spec.workspace, spec.uid, spec.uid);
  box = await bwrap.runtime.launch(spec);
  return () => box.stop();
});

const ASKED = { shell: '', env: {}, workdir: '', ownWorkdir: false, signal: never };
const open = (shell: string, env: Readonly<Record<string, string>> = {}) => box.openShell({ ...ASKED, shell, env });

interface Options {
  timeoutMs?: number;
  signal?: AbortSignal;
}

async function run(shell: RunningShell, command: string, { timeoutMs = 20_000, signal = never }: Options = {}) {
  const text = { STDOUT: '', STDERR: '' };
  const result: Omit<Result, 'stdout' | 'stderr'> = {};
  const execution = await shell.run({ command, timeoutMs, signal });
  try {
    for await (const event of execution) {
      if (event.kind === 'output') text[event.stream] += event.data.toString('latin1');
      else result.exitCode = event.exitCode;
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    Object.assign(result, { code: error.code, message: error.message });
  }
  await execution.settled;
  return { stdout: text.STDOUT, stderr: text.STDERR, ...result };
}

/** Runs the commands in a new shell and returns the result of the last one. */
async function last(name: string, ...commands: string[]) {
  const shell = await open(name);
  try {
    let result = await run(shell, 'true');
    for (const command of commands) result = await run(shell, command);
    return { ...result, ended: shell.end !== undefined };
  } finally {
    await shell.close();
  }
}

const shells = ['bash', 'dash', ...(existsSync('/usr/bin/busybox') ? ['/workspace/ash'] : [])];

describe.each(shells)('a session of %s', (name) => {
  it('keeps directory, variables, functions, options, positions, descriptors and the exit code', async () => {
    const shell = await open(name);
    const steps: [string, string][] = [
      ['cd /tmp; a=1; export b=2; f() { echo "f$a"; }; set -f; set -- x y; exec 5>/tmp/five', ''],
      ['pwd; f; sh -c "echo $b"; echo *; echo $# $2; echo five >&5; cat /tmp/five', '/tmp\nf1\n2\n*\n2 y\nfive\n'],
      ['(exit 7)', ''],
      ['echo $?', '7\n'],
      ['a=$(printf "%05000d" 0)\n# a long command of several lines\necho $a | wc -c', '5001\n'],
      ['set -e; ! false; set +e; umask 077; umask', '0077\n'],
      ['umask; alias ll="echo alias"; break; continue 3', '0077\n'],
    ];
    for (const [command, stdout] of steps) expect(await run(shell, command), command).toMatchObject({ stdout });
    expect(shell.end).toBeUndefined();
    await shell.close();
    expect(shell.end).toMatchObject({ killed: true });
  });

  it.each([
    ['exit 7', { exitCode: 7 }],
    ['trap "echo bye" EXIT; exit 4', { exitCode: 4, stdout: 'bye\n' }],
    ['exec sh -c "echo hi; echo no >&2; exit 9"', { exitCode: 9, stdout: 'hi\n', stderr: 'no\n' }],
    ['exec /nonexistent', { exitCode: 127 }],
    ['set -e\nfalse\necho no', { exitCode: 1, stdout: '' }],
    ['kill -9 $$', { exitCode: 137 }],
    ['sleep 1000 & exit 3', { exitCode: 3 }],
    ['ulimit -n 3', {}],
  ])('ends with %j, and the exit code is the command’s', async (command, expected) => {
    expect(await last(name, command)).toMatchObject({ ...expected, ended: true });
  });

  it.each([
    ['if', {}],
    ["echo 'unbalanced", {}],
    ['(', {}],
    ['exec >/tmp/file; echo hidden', { exitCode: 0, stdout: '' }],
    ['exec 0<&- 1>&- 2>&-', {}],
    ['echo() { :; }; printf() { :; }; read() { :; }', { exitCode: 0 }],
    ['command() { :; }', { exitCode: 0 }],
    ['alias command=false eval=false echo=false unset=false', { exitCode: 0 }],
    ['set -v', {}],
    ['set -C; IFS=x; PATH=/nowhere', {}],
    ['set -a', {}],
    ['read line; echo "$line $?"', { stdout: ' 1\n' }],
    ['stty', { exitCode: 1 }],
    ['trap "echo trapped" TERM; kill -TERM $$', { stdout: 'trapped\n' }],
  ])('continues after %j', async (command, expected) => {
    const shell = await open(name);
    expect(await run(shell, command)).toMatchObject(expected);
    const after = await run(shell, "\\command printf '%s\\n' continues");
    expect(after.stdout).toBe('continues\n');
    expect(shell.end).toBeUndefined();
    await shell.close();
  });

  it('takes a command of a megabyte, also when variables are exported, and returns every byte of its output', async () => {
    const shell = await open(name);
    const text = 'é'.repeat(500_000);
    expect((await run(shell, `set -a; x='${text}'; echo \${#x}; unset x; /bin/echo works`)).stdout).toMatch(/works\n$/);
    const bytes = await run(shell, "printf '\\000\\001\\377\\n'");
    expect(bytes.stdout).toBe('\0\x01\xff\n');
    const flood = await run(shell, 'head -c 20000000 /dev/zero');
    expect(flood.stdout.length).toBe(20_000_000);
    await expect(shell.run({ command: 'a\0b', timeoutMs: 1000, signal: never })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await shell.close();
  });

  it('never mixes output of background processes into that of later commands', async () => {
    const shell = await open(name);
    expect(
      (await run(shell, 'echo 1; (while :; do echo noise; echo noise >&2; sleep 0.01; done) & echo 2')).stdout,
    ).toMatch(/^1\n(noise\n)*2\n/);
    for (let round = 0; round < 20; round++) {
      expect(await run(shell, `echo ${round}; sleep 0.02; echo e >&2`)).toMatchObject({
        stdout: `${round}\n`,
        stderr: 'e\n',
      });
    }
    expect((await run(shell, 'kill $!; wait $! 2>/dev/null; echo done')).stdout).toBe('done\n');
    await shell.close();
  });

  it('is killed with everything in it by a timeout, an abort and its end', async () => {
    const escapes = (seconds: number) =>
      `trap '' TERM; setsid sleep ${seconds} & (sh -c "(sleep ${seconds} &) &" &); echo started; sleep ${seconds}`;
    const left = async () =>
      (await runCommand(box, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 7[0-9]*'")).stdout;
    const timed = await open(name);
    const late = await run(timed, escapes(7001), { timeoutMs: 500 });
    expect(late).toMatchObject({ code: 'DEADLINE_EXCEEDED', stdout: 'started\n' });
    expect(timed.end).toMatchObject({ killed: true });
    const abort = new AbortController();
    const aborted = await open(name);
    const running = run(aborted, escapes(7002), { signal: abort.signal });
    setTimeout(() => abort.abort(), 100);
    expect(await running).toMatchObject({ code: 'CANCELLED' });
    const closed = await open(name);
    const cut = run(closed, escapes(7003));
    await until('it runs', async () => Number(await left()) > 0);
    await closed.close();
    expect(await cut).toMatchObject({ exitCode: 137 });
    const exited = await open(name);
    expect(await run(exited, 'setsid sleep 7004 & exit 2')).toMatchObject({ exitCode: 2 });
    await exited.ended;
    // grep itself counts once at most.
    expect(Number(await left())).toBeLessThanOrEqual(1);
  });
});

describe('a session', () => {
  it('has bash if no shell is named, and the named one otherwise', async () => {
    const shell = await open('');
    expect(shell.path).toMatch(/^\/(usr\/)?bin\/bash$/);
    expect((await run(shell, 'declare -A m=([a]=1); declare -p m')).stdout).toContain('[a]="1"');
    await shell.close();
    const other = await open('/bin/dash', { GREETING: "it's", IFS: ',' });
    expect(other.path).toBe('/bin/dash');
    expect((await run(other, 'echo "$GREETING"')).stdout).toBe("it's\n");
    await other.close();
  });

  it('starts in a workdir, and has one ordered stream for a command with merge', async () => {
    const shell = await box.openShell({ shell: '', env: {}, workdir: '/tmp', ownWorkdir: true, signal: never });
    const merged = { command: 'pwd; echo a >&2; echo b', merge: true, timeoutMs: 20_000, signal: never };
    expect(await finish(shell.run(merged))).toMatchObject({ stdout: '/tmp\na\nb\n', stderr: '' });
    expect(await finish(shell.run({ ...merged, merge: false }))).toMatchObject({ stdout: '/tmp\nb\n', stderr: 'a\n' });
    await shell.close();
    const gone = box.openShell({ shell: '', env: {}, workdir: 'gone', ownWorkdir: true, signal: never });
    await expect(gone).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
  });

  it.each(['nosuchshell', '/nonexistent/sh', '/workspace', 'echo', '/bin/true', '/usr/bin/env'])(
    'is refused with %s as its shell',
    async (shell) => {
      const error = await open(shell).catch((each: unknown) => each);
      expect(error).toMatchObject({ code: 'FAILED_PRECONDITION' });
      expect(String(error)).toContain(shell);
    },
  );

  it('is slow, and not without a shell, if the new shell of a session does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const opening = box.openShell({ ...ASKED, shell: 'cat', replaces: true });
    let isOpen = true;
    const opened = opening
      .catch((error: unknown) => error)
      .finally(() => {
        isOpen = false;
      });
    while (isOpen) {
      await setImmediate();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(await opened).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('did not run') });
  });

  it('ends if a process of it forges the report of an exit code', async () => {
    const pipes = 'for f in /proc/$$/fd/*; do case $(readlink "$f") in *.req) r=$(readlink "$f") ;; esac; done';
    const shell = await open('bash');
    expect(await run(shell, `${pipes}; echo mine; echo forged >"\${r%.req}.sts"; sleep 100`)).toMatchObject({
      exitCode: 137,
      stdout: 'mine\n',
    });
    expect((await shell.ended).reason).toContain('wrote to the pipe on which its shell reports');
    await shell.close();
  });

  it.each(['readonly _status=5', 'readonly _command=5; set -n', 'unset() { :; }; command() { :; }'])(
    'answers after %j, which hurts itself only',
    async (command) => {
      const shell = await open('dash');
      await run(shell, command, { timeoutMs: 300 });
      if (shell.end === undefined) await run(shell, 'true', { timeoutMs: 300 });
      await shell.close();
    },
  );

  it('reports a process that the memory limit killed', async () => {
    const shell = await open('bash');
    const result = await run(shell, 'python3 -c "x = bytearray(1 << 30)"; echo "code $?"; (exit 137)');
    expect(result).toMatchObject({ exitCode: 137 });
    expect(result.stderr).toContain('out of memory');
    await shell.close();
  });

  it('leaves no file and no descriptor', async () => {
    const own = () => readdirSync('/proc/self/fd').length;
    const shell = await open('bash');
    await run(shell, 'true');
    await shell.close();
    const before = own();
    for (let round = 0; round < 20; round++) {
      const each = await open('bash');
      await run(each, 'sleep 1000 & true');
      await run(each, 'exit');
      await each.ended;
    }
    await until('the descriptors are closed', () => own() <= before + 10);
  });

  it('fails with the sandbox', async () => {
    const other = await bwrap.launch();
    const shell = await other.openShell({ shell: '', env: {}, workdir: '', ownWorkdir: false, signal: never });
    const running = run(shell, 'sleep 1000');
    await other.stop('the reason');
    expect(await running).toMatchObject({ code: 'UNAVAILABLE', message: 'the reason' });
    expect((await shell.ended).error).toMatchObject({ code: 'UNAVAILABLE' });
  });
});
