import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { silentLog } from '../../../../lib/log.ts';
import { unmountAgentFiles } from '../../../../lib/runtime/agent-mount.ts';
import { inheritedFds } from '../../../../lib/runtime/bwrap/inherited-fds.ts';
import { type Instance, openInstance } from '../../../../lib/runtime/bwrap/instance.ts';
import { BwrapSandbox } from '../../../../lib/runtime/bwrap/launch.ts';
import { ShellProcess } from '../../../../lib/runtime/bwrap/shell-process.ts';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import type { RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { TerminalLimit } from '../../../../lib/runtime/terminal-limit/terminal-limit.ts';
import { RESOURCES, run } from '../run.ts';
import { openTerminal, SIZE } from './open-terminal.ts';

/** A terminal is made by the first of these that the sandbox has. */
const WAYS = ['perl', 'python3', 'script'];
/** The shells that may be an image's /bin/sh; busybox is tested if it is installed. */
const SHELLS = ['/usr/bin/dash', '/usr/bin/bash', '/usr/bin/busybox'].filter((path) => existsSync(path));
const FIRST_UID = 5_800_000 + (process.pid % 5000) * 10;

const base = mkdtempSync('/tmp/paddock-terminals-');
chmodSync(base, 0o711);
const opened: RunningSandbox[] = [];
let instance: Instance;
beforeAll(async () => {
  instance = await openInstance(join(base, 'i'), true, { readOnlyPaths: [] });
});
afterAll(async () => {
  await Promise.all(opened.map((sandbox) => sandbox.stop()));
  await unmountAgentFiles(join(base, 'i'));
  rmSync(base, { recursive: true, force: true });
});

/** A sandbox without cgroups that lacks some programs: others of their names, which fail, come first in PATH. */
async function lacking(programs: readonly string[], shell = SHELLS[0]!): Promise<RunningSandbox> {
  const index = opened.length;
  const [hidden, bin, workspace] = ['h', 'b', 'w'].map((name) => join(base, `${name}-${index}`)) as [
    string,
    string,
    string,
  ];
  for (const directory of [hidden, bin, workspace]) mkdirSync(directory);
  for (const name of programs) writeFileSync(join(hidden, name), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
  symlinkSync(shell, join(bin, 'sh'));
  const uid = FIRST_UID + index;
  chownSync(workspace, uid, uid);
  const entries = instance.view.entries.filter(({ path }) => path !== '/bin');
  const more = [
    { path: '/bin', source: bin },
    { path: '/usr/local/bin', source: hidden },
  ];
  const spec = {
    id: `s${index}`,
    workspace,
    home: workspace,
    runDir: join(base, `r-${index}`),
    uid,
    image: '',
    resources: RESOURCES,
  };
  const settings = {
    bwrapPath: '/usr/bin/bwrap',
    root: true,
    resetSignals: ['/usr/bin/env', '--default-signal=INT,QUIT'],
    start: (files: readonly string[]) => new ShellProcess(files, { closeFds: inheritedFds(), niceness: undefined }),
    descriptors: new Descriptors(),
    terminals: new TerminalLimit(silentLog),
  };
  const view = { ...instance.view, entries: [...entries, ...more] };
  const sandbox = await BwrapSandbox.launch(spec, { ...instance, view }, new CgroupTree('none'), settings);
  opened.push(sandbox);
  return sandbox;
}

/** Each way, and each shell. */
const combinations = WAYS.flatMap((way, at) =>
  SHELLS.filter((_, index) => at === 0 || index === at % SHELLS.length).map((shell) => ({
    way,
    shell,
    without: WAYS.slice(0, at),
  })),
);

describe.each(combinations)('a terminal by $way, with $shell as /bin/sh and no cgroups', ({ way, shell, without }) => {
  let box: RunningSandbox;
  beforeAll(async () => {
    box = await lacking(without, shell);
  });

  it('is the controlling terminal, of the size asked for, with usual modes, and nothing else is open', async () => {
    const facts = [
      'test -t 0 && test -t 1 && test -t 2 && : >/dev/tty && tty && stty size && stty -a',
      'echo "$TERM:$A:$SHELL"; for f in 3 4 5 6 7 8 9; do readlink /proc/self/fd/$f; done; env | grep "^_[0-9s]"; grep SigIgn /proc/$$/status; exit 5',
    ].join('; ');
    const env = { A: `'"$(id)\n é`, PERL5OPT: '-Mnone', PYTHONHOME: '/none' };
    const terminal = await openTerminal(box, facts, { env, terminal: { columns: 101, rows: 33 } });
    expect(await terminal.ended).toBe(5);
    const text = terminal.text();
    expect(text).toMatch(/^\/dev\/pts\/\d+\r\n33 101\r\n/);
    for (const mode of ['icanon', 'echo', 'isig', 'icrnl', 'onlcr', 'iutf8'])
      expect(text).toMatch(new RegExp(`[ \n]${mode}[; \r]`));
    expect(text).toContain(`xterm-256color:'"$(id)\r\n é:/bin/sh\r\n`);
    // busybox ignores SIGQUIT (4) in the last program that it starts.
    expect(text).toMatch(/:\/bin\/sh\r\nSigIgn:\t0{15}[04]\r\n$/);
  });

  it('passes input, ^C, ^\\, ^D and sizes', async () => {
    const terminal = await openTerminal(
      box,
      'echo up; read a; echo "got $a"; trap "stty size; exit 9" WINCH; echo trap; while :; do sleep 0.05; done',
    );
    await terminal.shown('up');
    await terminal.type('añb\r');
    await terminal.shown('añb\r\ngot añb');
    await terminal.shown('trap');
    await terminal.running.resize!({ columns: 120, rows: 40 });
    await terminal.shown('40 120');
    expect(await terminal.ended).toBe(9);
    const interrupted = await openTerminal(box, 'echo up; exec sleep 1000');
    await interrupted.shown('up');
    await interrupted.type('\x03');
    expect(await interrupted.ended).toBe(130);
    const quit = await openTerminal(box, 'trap "exit 7" QUIT; echo up; while :; do sleep 0.05; done');
    await quit.shown('up');
    await quit.type('\x1c');
    expect(await quit.ended).toBe(7);
    const end = await openTerminal(box, 'cat; echo "code $?"; exit 3');
    await end.type('line\n');
    await end.shown('line\r\nline');
    end.running.input!.end();
    expect(await end.ended).toBe(3);
    expect(end.text()).toContain('code 0');
  });

  it('ends with its program although background processes hold the terminal, and then can be opened again', async () => {
    const terminal = await openTerminal(
      box,
      'trap "" HUP; (while :; do sleep 0.1; done) & sleep 7654321 & echo up; exit 4',
    );
    expect(await terminal.ended).toBe(4);
    expect(terminal.text()).toContain('up');
    await terminal.running.resize!(SIZE);
    await expect(terminal.running.input!.write(Buffer.from('x'))).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
    });
    const killed = await openTerminal(box, 'kill -9 $$');
    expect(await killed.ended).toBe(137);
  });

  it('runs a program with arguments', async () => {
    const argv = ['printf', '%s|', 'a b', `'"$@`, '', ...'123456789'];
    expect(await run(box, '', { terminal: SIZE, argv })).toMatchObject({
      stdout: `a b|'"$@||1|2|3|4|5|6|7|8|9|`,
      exitCode: 0,
    });
    expect(await run(box, '', { terminal: SIZE, argv: ['none=such'] })).toMatchObject({ exitCode: 127 });
  });

  it('enters the workdir or refuses it', async () => {
    const terminal = await openTerminal(box, 'pwd', { workdir: '/tmp' });
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toBe('/tmp\r\n');
    expect(await run(box, 'pwd', { terminal: SIZE, workdir: 'none' })).toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('passes all output, and is not stopped by input that nobody reads', async () => {
    const terminal = await openTerminal(
      box,
      'stty raw -echo; echo up; head -c 3000000 /dev/zero | tr "\\0" x; sleep 0.2; exit 6',
    );
    await terminal.shown('up');
    await terminal.type('y'.repeat(40_000));
    expect(await terminal.ended).toBe(6);
    expect(terminal.text().replace(/[^x]/g, '')).toHaveLength(3_000_000);
  });

  it('a timeout kills everything', async () => {
    expect(await run(box, 'sleep 1234567', { terminal: SIZE, timeoutMs: 400 })).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    const left = await run(box, "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; :");
    expect(left.stdout).not.toContain('1234567');
    expect(left.stdout).not.toMatch(way === 'script' ? /script -q/ : /TIOCSWINSZ|0x5414/);
  });
});

describe('a sandbox without any way to make a terminal', () => {
  it('says before anything runs what its image lacks, and runs other commands', async () => {
    const box = await lacking(WAYS);
    const lacks = await run(box, 'touch /workspace/ran', { terminal: SIZE });
    expect(lacks).toMatchObject({ code: 'FAILED_PRECONDITION', stdout: '', stderr: '' });
    expect(lacks.message).toMatch(/no perl, no python3, and no script/);
    expect(await run(box, 'ls')).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it('refuses a size that no terminal has, also of an open terminal', async () => {
    const box = await lacking([]);
    for (const [field, value] of [
      ['columns', 0],
      ['rows', 1001],
      ['rows', 1.5],
    ] as const) {
      const wrong = await run(box, 'true', { terminal: { ...SIZE, [field]: value } });
      expect(wrong).toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: `${field} must be a whole number from 1 to 1000`,
      });
    }
    const terminal = await openTerminal(box, 'read a');
    await expect(terminal.running.resize!({ columns: 1, rows: 1001 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await terminal.type('\r');
    expect(await terminal.ended).toBe(0);
  });
});
