import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Descriptors } from '../../../../lib/descriptors.ts';
import { silentLog } from '../../../../lib/log.ts';
import { unmountAgentFiles } from '../../../../lib/runtime/agent-mount.ts';
import { openInstance } from '../../../../lib/runtime/bwrap/instance.ts';
import { BwrapSandbox } from '../../../../lib/runtime/bwrap/launch.ts';
import { ShellProcess } from '../../../../lib/runtime/bwrap/shell-process.ts';
import { CgroupTree } from '../../../../lib/runtime/cgroup/tree.ts';
import { devptsProgram } from '../../../../lib/runtime/terminal-limit/devpts-program.ts';
import { TerminalLimit } from '../../../../lib/runtime/terminal-limit/terminal-limit.ts';
import { until, useBwrap } from '../bwrap/fixture.ts';
import { SIZE } from '../executor/open-terminal.ts';
import { command, run } from '../run.ts';

const bwrap = useBwrap();
const directory = mkdtempSync('/tmp/paddock-terminals-');
chmodSync(directory, 0o711);
const opened: TerminalLimit[] = [];
afterEach(() => {
  for (const limit of opened.splice(0)) limit.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function limitWith(program?: string) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const limit = new TerminalLimit(log, program);
  opened.push(limit);
  return { limit, warnings };
}

let programs = 0;
/** A program that takes the place of perl. */
function fake(script: string): string {
  const path = join(directory, `perl-${++programs}`);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** The helper processes of this process. */
const helpers = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const isOwn = readFileSync(`/proc/${pid}/stat`, 'latin1').includes(`) S ${process.pid} `);
        return isOwn && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('dev/pts');
      } catch {
        return false;
      }
    })
    .map(Number);

const hostOptions = () => /.* \/dev\/pts .* - devpts (.*)/.exec(readFileSync('/proc/self/mountinfo', 'latin1'))?.[1];
const UNLIMITED = { code: 'UNAVAILABLE', message: 'the terminals of the sandbox could not be limited' };

describe('a sandbox that opens terminals without end', () => {
  it('gets as many as it may have, and others still get theirs', async () => {
    const [greedy, other] = [await bwrap.launch(), await bwrap.launch()];
    const open = 'while (open(my $f, "+<", "/dev/ptmx")) { push @a, $f } print scalar(@a), "\\n"; sleep 1000';
    const holder = await greedy.exec(command(`perl -e '$| = 1; ${open}'`));
    const first = await holder[Symbol.asyncIterator]().next();
    expect(first.value).toMatchObject({ kind: 'output', data: Buffer.from('64\n') });
    expect(await run(greedy, 'true', { terminal: SIZE })).toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    expect(await run(other, 'tty', { terminal: SIZE })).toMatchObject({ stdout: '/dev/pts/0\r\n', exitCode: 0 });
    await holder.kill('SIGKILL');
    await until('a terminal opens again', async () => (await run(greedy, 'tty', { terminal: SIZE })).exitCode === 0);
  });

  it('is limited although the helper process was killed, which is one for all sandboxes', async () => {
    const [helper, ...others] = helpers();
    expect(others).toEqual([]);
    process.kill(helper!, 'SIGKILL');
    const boxes = await Promise.all([bwrap.launch(), bwrap.launch()]);
    for (const box of boxes) {
      const { stdout } = await run(box, 'grep " /dev/pts " /proc/self/mountinfo');
      expect(stdout).toMatch(/max=64/);
      expect(stdout).toMatch(/mode=620,ptmxmode=666/);
    }
    expect(helpers()).toHaveLength(1);
  });

  it('does not start if its terminals cannot be limited', async () => {
    const files = join(bwrap.stateDir, 'unlimited');
    const instance = await openInstance(files, true, { readOnlyPaths: [] });
    const settings = {
      bwrapPath: '/usr/bin/bwrap',
      root: true,
      resetSignals: [],
      start: (files: readonly string[]) => new ShellProcess(files, { closeFds: [], niceness: undefined }),
      descriptors: new Descriptors(),
      terminals: limitWith(fake('exit 1')).limit,
    };
    const sandbox = await BwrapSandbox.launch(bwrap.spec(), instance, new CgroupTree('none'), settings);
    try {
      expect(await run(sandbox, 'echo ran')).toMatchObject({ ...UNLIMITED, stdout: '' });
      expect(await sandbox.exited).toBe(UNLIMITED.message);
    } finally {
      await sandbox.stop();
      await unmountAgentFiles(files);
    }
  });
});

describe('the limit of terminals', () => {
  it('is not set, which is logged once, on a host without perl', async () => {
    const { limit, warnings } = limitWith(join(directory, 'nothing'));
    for (const pid of [1, 2]) await limit.apply(pid);
    expect(warnings).toEqual([expect.stringContaining('is not limited')]);
  });

  it('is not set where the first try says that it is impossible, and is required once it was possible', async () => {
    const answers = fake('while read -r pid; do [ $pid = 1 ] && echo ok || echo no reason; done');
    const [never, once] = [limitWith(answers), limitWith(answers)];
    for (const pid of [2, 1]) await never.limit.apply(pid);
    expect(never.warnings).toHaveLength(1);
    await once.limit.apply(1);
    await expect(once.limit.apply(2)).rejects.toMatchObject(UNLIMITED);
    expect(once.warnings).toEqual([]);
  });

  it.each(['exit 0', 'read -r pid; exec yes "" | tr "\\n" x', 'exec 1>&-; exec sleep 1000'])(
    'is an error if the helper process does only: %s',
    async (script) => {
      await expect(limitWith(fake(script)).limit.apply(1)).rejects.toMatchObject(UNLIMITED);
    },
  );

  it('is an error if the helper process does not answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const applied = limitWith(fake('exec sleep 1000')).limit.apply(1);
    applied.catch(() => {});
    await vi.advanceTimersByTimeAsync(40_000);
    await expect(applied).rejects.toMatchObject(UNLIMITED);
  });

  it('is an error if it is closed meanwhile, which starts no other helper process', async () => {
    const started = join(directory, 'started');
    const { limit } = limitWith(fake(`echo >> ${started}; exec sleep 1000`));
    const applied = limit.apply(1);
    applied.catch(() => {});
    await until('the helper process runs', async () => existsSync(started));
    limit.close();
    await expect(applied).rejects.toMatchObject(UNLIMITED);
    await expect(limit.apply(1)).rejects.toMatchObject(UNLIMITED);
    expect(readFileSync(started, 'latin1')).toBe('\n');
  });

  it('is set also if nothing else keeps the event loop running, and does not keep it running itself', async () => {
    const entry = join(import.meta.dirname, '../../../../lib/runtime/terminal-limit/terminal-limit.ts');
    await build({ entryPoints: [entry], outdir: directory, bundle: true, format: 'esm', platform: 'node' });
    const script = `import { TerminalLimit } from ${JSON.stringify(join(directory, 'terminal-limit.js'))};
      await new TerminalLimit({ warn: console.log }).probe();
      console.log('set');`;
    const options = { encoding: 'utf8', timeout: 60_000 } as const;
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
    expect({ stdout, status }).toEqual({ stdout: 'set\n', status: 0 });
  });

  it('is never set on the host’s own terminals, and a process that has ended needs none', async () => {
    const before = hostOptions();
    const { limit, warnings } = limitWith();
    await limit.probe();
    await limit.apply(4_194_304);
    await expect(limit.apply(process.pid)).rejects.toMatchObject(UNLIMITED);
    expect(hostOptions()).toBe(before);
    expect(warnings).toEqual([]);
  });

  it('the helper process ends with its standard input, and at anything that is not a pid', () => {
    const perl = (input: string) => {
      const { status, stdout } = spawnSync('perl', ['-e', devptsProgram(64)], { input, encoding: 'utf8' });
      return { status, stdout };
    };
    expect(perl('0\n')).toEqual({ status: 0, stdout: 'ok\n' });
    expect(perl('0\n../1\n0\n')).toEqual({ status: 1, stdout: 'ok\n' });
    expect(perl('1'.repeat(1000))).toEqual({ status: 1, stdout: '' });
  });
});
