import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { run } from '../run.ts';
import { runtimeCgroups, until, useBwrap } from './fixture.ts';

const bwrap = useBwrap();
const prepare = (spec = bwrap.spec()) => bwrap.runtime.prepare!(spec);
const cgroups = () =>
  runtimeCgroups(bwrap.stateDir).flatMap((dir) => readdirSync(dir).filter((each) => /^ready-|^sb_/.test(each)));

/** What a limit file of the only sandbox contains. */
function limit(...files: string[]): string[] {
  return runtimeCgroups(bwrap.stateDir).flatMap((dir) =>
    readdirSync(dir)
      .filter((each) => each.startsWith('ready-'))
      .flatMap((each) =>
        files.flatMap((file) => {
          try {
            return [readFileSync(join(dir, each, file), 'latin1').trim()];
          } catch {
            return [];
          }
        }),
      ),
  );
}

it('has the limits, the name and the empty directories of the sandbox that takes it', async () => {
  const MIB = 1024 * 1024;
  for (const [guess, asked] of [
    [64, 256],
    [256, 64],
  ] as const) {
    const limits = (mib: number, pids: number, cpu: number) => ({
      memory_bytes: mib * MIB,
      pids_limit: pids,
      cpu_quota: cpu,
    });
    const spec = bwrap.spec(limits(asked, 40, 150_000));
    const box = await bwrap.launchReady(spec, { ...spec.resources, ...limits(guess, 90, 50_000) });
    expect(limit('memory.limit_in_bytes', 'memory.max')).toEqual([String(asked * MIB)]);
    expect(limit('commands/pids.max')).toEqual(['41']);
    expect(limit('cpu.cfs_quota_us', 'cpu.max').map((value) => value.split(' ')[0])).toEqual(['30000']);
    const said = await run(box, 'git config user.email; ls -A /tmp /home/sandbox /dev/shm /workspace | grep -v :; pwd');
    expect(said.stdout).toBe(`agent@${spec.id}\n\n\n\n/workspace\n`);
    await box.stop();
    expect(cgroups()).toEqual([]);
  }
});

it('refuses kinds of limits that it was not prepared with, and is gone without a trace when it is discarded', async () => {
  const spec = bwrap.spec({ pids_limit: 40 });
  await expect(bwrap.launchReady(spec, { ...spec.resources, pids_limit: 0 })).rejects.toThrow('other kinds of limits');
  const more = bwrap.spec({ memory_bytes: 64 * 1024 * 1024 });
  await expect(bwrap.launchReady(more, { ...more.resources, pids_limit: 40 })).rejects.toThrow('other kinds of limits');
  expect(cgroups()).toEqual([]);
});

it('refuses a sandbox of another user, place, image or owner’s limits, and a second sandbox', async () => {
  const spec = bwrap.spec();
  const ready = await prepare(spec);
  const others = [
    { uid: spec.uid + 1 },
    { workspace: '/tmp' },
    { image: 'x' },
    { owner: { group: 'owner-1', memory_bytes: 1, cpu_quota: 0 } },
  ];
  for (const other of others) await expect(ready.take({ ...spec, ...other })).rejects.toThrow('another kind');
  const box = await ready.take(spec);
  expect(await run(box, 'true')).toMatchObject({ exitCode: 0 });
  await expect(ready.take(spec)).rejects.toThrow('has ended');
  await box.stop();
});

it('is not fit once a process in it has ended, or another one is in it', async () => {
  const spec = bwrap.spec();
  const ended = await prepare(spec);
  expect(ended.isFit()).toBe(true);
  const [agent] = limit('agent/cgroup.procs')[0]!.split('\n').reverse();
  process.kill(Number(agent), 'SIGKILL');
  await until('it has ended', () => !ended.isFit());
  await expect(ended.take(spec)).rejects.toThrow('has ended');
  await ended.discard();

  const entered = await prepare(spec);
  const stranger = (await import('node:child_process')).spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    for (const dir of runtimeCgroups(bwrap.stateDir)) {
      for (const each of readdirSync(dir).filter((name) => name.startsWith('ready-'))) {
        try {
          writeFileSync(join(dir, each, 'agent/cgroup.procs'), String(stranger.pid));
        } catch {}
      }
    }
    expect(entered.isFit()).toBe(false);
  } finally {
    stranger.kill('SIGKILL');
    await entered.discard();
  }
  expect(cgroups()).toEqual([]);
});

it('and its cgroups are removed by the next server, if its own was killed', async () => {
  const ready = await prepare();
  expect(cgroups()).not.toEqual([]);
  await bwrap.runtime.reclaim();
  expect(cgroups()).toEqual([]);
  expect(ready.isFit()).toBe(false);
  await ready.discard();
});
