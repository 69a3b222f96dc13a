import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { createBwrapRuntime } from '../../../../lib/runtime/bwrap/index.ts';
import { instanceName } from '../../../../lib/runtime/bwrap/instance.ts';
import { Spares } from '../../../../lib/runtime/bwrap/spares.ts';
import { RESOURCES, run } from '../run.ts';
import { runtimeCgroups, until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();
const LIMITED = { memory_bytes: 1 << 28, cpu_quota: 50_000, cpu_shares: 512, pids_limit: 50 };

/** Returns this runtime's directory in each hierarchy that it uses. */
const roots = (stateDir = bwrap.stateDir) => runtimeCgroups(stateDir);

/** Those in which each sandbox has a group: all share one of cpuset, which limits nothing. */
const ownRoots = (stateDir?: string) => roots(stateDir).filter((root) => !root.includes('/cpuset/'));

/** Returns the waiting shells, each in the agent's part of cgroups named spare-*. */
function waiting(): number[] {
  return pidsOf('cgroup.procs').filter((pid) => /^Uid:\t0\t/m.test(statusOf(pid)));
}

function pidsOf(file: string): number[] {
  const groups = roots().filter((root) => readdirSync(root).some((name) => existsSync(join(root, name, 'agent'))));
  return readdirSync(groups[0]!)
    .filter((name) => name.startsWith('spare-'))
    .flatMap((name) =>
      readFileSync(join(groups[0]!, name, 'agent', file), 'latin1')
        .split('\n')
        .filter(Boolean),
    )
    .map(Number);
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

function pidsWithUid(uid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statusOf(pid).includes(`\nUid:\t${uid}\t`));
}

/** Launches a sandbox of the same limits, and waits for the spares that are created after it. */
async function withSpares(): Promise<void> {
  await bwrap.launch(LIMITED);
  await until('there are spares', () => waiting().length === 2);
}

describe('a spare launcher', () => {
  it('becomes the next sandbox of the same limits, whose processes are all in its cgroups and limited by them', async () => {
    await withSpares();
    const spares = waiting();
    const spec = bwrap.spec(LIMITED);
    const sandbox = await bwrap.runtime.launch(spec);
    expect(await run(sandbox, 'head -c 400000000 /dev/zero | tail')).toMatchObject({
      stderr: expect.stringContaining('memory_bytes'),
    });
    expect((await run(sandbox, 'ulimit -c; readlink /proc/self/fd/0; id -u')).stdout).toBe('0\n/dev/null\n1000\n');
    const pids = pidsWithUid(spec.uid);
    expect(spares.filter((pid) => pids.includes(pid))).toHaveLength(1);
    for (const pid of pids) {
      const groups = readFileSync(`/proc/${pid}/cgroup`, 'latin1').split('\n');
      const own = groups.filter((line) => line.includes(`/paddock-${instanceName(bwrap.stateDir)}/spare-`));
      expect(own).toHaveLength(ownRoots().length);
    }
    await sandbox.stop();
    expect(pidsWithUid(spec.uid)).toEqual([]);
  });

  it('is discarded for other limits', async () => {
    await withSpares();
    const spares = waiting();
    const names = spares.map((pid) => /spare-\w+/.exec(readFileSync(`/proc/${pid}/cgroup`, 'latin1'))?.[0] ?? '');
    const spec = bwrap.spec({ ...LIMITED, pids_limit: 51 });
    const sandbox = await bwrap.runtime.launch(spec);
    expect(pidsWithUid(spec.uid).some((pid) => spares.includes(pid))).toBe(false);
    await until('those are gone', () => spares.every((pid) => statusOf(pid) === ''));
    await until('others take their places', () => waiting().length === 2);
    const left = () =>
      roots()
        .flatMap((root) => readdirSync(root))
        .filter((name) => names.includes(name));
    await until('their cgroups are gone', () => left().length === 0);
    await sandbox.stop();
  });

  it('is not used after it was killed', async () => {
    await withSpares();
    const spares = waiting();
    for (const pid of spares) process.kill(pid, 'SIGKILL');
    await until('they are gone', () => spares.every((pid) => statusOf(pid) === ''));
    const sandbox = await bwrap.launch(LIMITED);
    expect(await run(sandbox, 'echo up')).toMatchObject({ stdout: 'up\n' });
  });

  it('ends with the runtime', async () => {
    const stateDir = `${bwrap.stateDir}/own`;
    const runtime = createBwrapRuntime({ bwrapPath: '/usr/bin/bwrap', stateDir, log: silentLog });
    await runtime.probe();
    const sandbox = await runtime.launch({ ...bwrap.spec(LIMITED), id: 'sb_own' });
    const count = () =>
      ownRoots(stateDir).map((root) => readdirSync(root).filter((name) => /^spare-/.test(name)).length);
    await until('there are spares', () => count().every((each) => each === 2));
    await sandbox.stop();
    await runtime.close();
    expect(roots(stateDir)).toEqual([]);
  });

  it('is only created while no sandbox is being launched', async () => {
    let made = 0;
    const spares = new Spares(
      () => {
        made++;
        throw new Error('none today');
      },
      () => {},
    );
    for (let launch = 0; launch < 2; launch++) expect(spares.take(RESOURCES)).toBeUndefined();
    spares.launched();
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(made).toBe(0);
    spares.launched();
    await until('one is tried', () => made === 1);
    await spares.close();
  });
});
