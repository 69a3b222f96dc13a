import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { silentLog } from '../../../../lib/log.ts';
import { unmountAgentFiles } from '../../../../lib/runtime/agent-mount.ts';
import { openInstance } from '../../../../lib/runtime/bwrap/instance.ts';
import { BwrapSandbox } from '../../../../lib/runtime/bwrap/launch.ts';
import { ShellProcess } from '../../../../lib/runtime/bwrap/shell-process.ts';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import { TerminalLimit } from '../../../../lib/runtime/terminal-limit/terminal-limit.ts';
import { Shares } from '../../../../lib/shares.ts';
import { run, withIdleShells } from '../run.ts';
import { until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();

/** Stops every idle shell except its own, and fills the pipes that they read from with garbage. */
const STOP_SHELLS = `
for p in /proc/[0-9]*; do
  [ $p = /proc/$PPID ] && continue
  case $(tr '\\0' ' ' <$p/cmdline) in
    '/bin/sh /run/agent/'*.req*) kill -STOP \${p#/proc/}
      # Not yet stopped, it would make room in the pipe by one more read.
      until grep -q '^State:.T' $p/status; do :; done
      for fd in $p/fd/1[0-9]; do
      case $(readlink $fd) in *.req*) dd if=/dev/zero of=$fd bs=4096 count=300 oflag=nonblock 2>/dev/null;; esac
    done; echo stopped;;
  esac
done; :`;

describe('a sandbox that stops the shells that run its commands', () => {
  it('and fills their pipes loses these shells, and other shells run the next commands', async () => {
    const sandbox = await bwrap.launch();
    const beside = await bwrap.launch();
    await withIdleShells(sandbox, 4);
    const { stdout } = await run(sandbox, STOP_SHELLS);
    expect(stdout.split('\n').length).toBeGreaterThan(3);
    const rounds = await Promise.all(Array.from({ length: 6 }, (_, round) => run(sandbox, `sleep 0.1; echo ${round}`)));
    expect(rounds.map(({ stdout, code }) => code ?? stdout)).toEqual(rounds.map((_, round) => `${round}\n`));
    const left = await run(sandbox, 'grep -l "^State:.T" /proc/[0-9]*/status | wc -l');
    expect(left.stdout).toBe('0\n');
    expect(await run(beside, 'echo on')).toMatchObject({ stdout: 'on\n' });
  });
});

describe('the space of running commands in the file system of the agents', () => {
  const directory = join(bwrap.stateDir, 'small');
  afterAll(() => unmountAgentFiles(directory));

  it('is limited for each sandbox, and freed when they end', async () => {
    const instance = await openInstance(directory, true, { readOnlyPaths: [] });
    const settings = {
      bwrapPath: '/usr/bin/bwrap',
      root: true,
      resetSignals: [],
      start: (files: readonly string[]) => new ShellProcess(files, { closeFds: [], niceness: undefined }),
      descriptors: new Descriptors(),
      terminals: new TerminalLimit(silentLog),
    };
    const small = { ...instance, room: new Shares<object>(1_000_000) };
    const launch = () => BwrapSandbox.launch(bwrap.spec(), small, new CgroupTree('none'), settings);
    const [sandbox, beside] = [await launch(), await launch()];
    try {
      // A quoted quote has four characters.
      const env = { A: "'".repeat(80_000) };
      const abort = new AbortController();
      const long = run(sandbox, 'echo "$$"; sleep 60', { env, signal: abort.signal });
      const refused = { code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('too large together') };
      await until('one more is refused', async () => (await run(sandbox, 'true', { env })).code !== undefined);
      expect(await run(sandbox, 'true', { env })).toMatchObject(refused);
      expect(await run(sandbox, 'echo short')).toMatchObject({ stdout: 'short\n' });
      expect(await run(beside, 'echo long', { env })).toMatchObject({ stdout: 'long\n' });
      abort.abort();
      expect(await long).toMatchObject({ code: 'CANCELLED' });
      expect(await run(sandbox, 'echo again', { env })).toMatchObject({ stdout: 'again\n' });
    } finally {
      await sandbox.stop();
      await beside.stop();
    }
  });

  it('is freed even if a process still has the file of a command open', async () => {
    const sandbox = await bwrap.launch();
    const env = { A: 'x'.repeat(100_000) };
    const open = 'for f in /proc/$PPID/fd/*; do case $(readlink $f) in *.cmd) exec 5<$f;; esac; done; sleep 60 <&5 &';
    expect(await run(sandbox, open, { env })).toMatchObject({ exitCode: 0 });
    const held = await run(sandbox, 'for p in $(pgrep -x sleep); do stat -L -c %s /proc/$p/fd/0; done');
    expect(held.stdout).toBe('0\n');
  });
});
