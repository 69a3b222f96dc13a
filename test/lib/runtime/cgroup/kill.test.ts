import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readMountsSync } from '../../../../lib/linux/mountinfo.ts';
import { findHierarchies } from '../../../../lib/runtime/cgroup/mounts.ts';
import { SandboxCgroup } from '../../../../lib/runtime/cgroup/sandbox-cgroup.ts';
import { until } from '../bwrap/fixture.ts';
import { RESOURCES } from '../run.ts';

const hierarchies = findHierarchies(readMountsSync(), () => '');
const named = (controller: string) => hierarchies.find((each) => each.controllers.includes(controller))?.mountPoint;
/** The hierarchies of this host in which cgroups can be created: v2 with cgroup.kill, and the v1 freezer. */
const roots = [hierarchies.find((each) => each.version === 2)?.mountPoint, named('freezer')].filter(
  (each) => each !== undefined,
);

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts a shell that enters a cgroup itself, as a launcher's prelude does, and then runs `script`. */
function enter(entries: readonly string[], script: string): ChildProcess {
  const writes = entries.map((file) => `echo 0 >'${file}'`).join('; ');
  const child = spawn('/bin/sh', ['-c', `${writes}; ${script}`], { stdio: 'ignore' });
  children.push(child);
  return child;
}

describe.each(roots)('a sandbox’s cgroups under %s', (mountPoint) => {
  const root = join(mountPoint, `paddock-test-${process.pid}`);
  const make = (id: string) => {
    mkdirSync(root, { recursive: true });
    return new SandboxCgroup({ groups: root, limits: {} }, id, RESOURCES);
  };
  afterEach(() => {
    if (existsSync(root)) rmdirSync(root);
  });

  it('contain the processes that entered, and kill all of them however fast they fork', async () => {
    const cgroup = make('a');
    const bomb = enter(
      cgroup.entries,
      'i=0; while :; do (setsid sh -c "while :; do sleep 1 & wait; done" &); i=$((i+1)); [ $i -gt 50 ] && sleep 60; done',
    );
    await until('many are inside', () => cgroup.basePids().length > 20);
    expect(cgroup.basePids()).toContain(bomb.pid);
    await cgroup.kill();
    await until('it is empty', async () => {
      await cgroup.kill();
      return cgroup.basePids().length === 0;
    });
    await until('it is removed', () => cgroup.remove());
    expect(existsSync(join(root, 'a'))).toBe(false);
  });

  it('kill all processes without cgroup.kill too, which v2 has since Linux 5.14', async () => {
    const cgroup = make('e');
    const file = join(root, 'e', 'cgroup.kill');
    const mask = existsSync(file);
    // Every write to cgroup.kill fails.
    if (mask) execFileSync('mount', ['--bind', '/dev/full', file]);
    try {
      enter(cgroup.entries, 'while :; do (setsid sh -c "while :; do sleep 1 & wait; done" &); sleep 0.01; done');
      await until('some are inside', () => cgroup.basePids().length > 20);
      await until('it is empty', async () => {
        await cgroup.kill();
        return cgroup.basePids().length === 0;
      });
    } finally {
      if (mask) execFileSync('umount', [file]);
    }
    await until('it is removed', () => cgroup.remove());
  });

  it('list a process as soon as it joins', async () => {
    const cgroup = make('d');
    const members = [enter(cgroup.entries, 'sleep 60'), enter(cgroup.entries, 'sleep 60')];
    await until('both are inside', () => members.every(({ pid }) => cgroup.basePids().includes(pid!)));
    const group = cgroup.addGroup();
    for (const [count, { pid }] of members.entries()) {
      await group.add(pid!);
      expect(group.pids()).toEqual(expect.arrayContaining(members.slice(0, count + 1).map((member) => member.pid)));
    }
    await group.kill();
    expect(group.pids()).toEqual([]);
    group.release();
    await cgroup.kill();
    await until('all is removed', () => cgroup.remove());
  });

  it('kill one group without affecting the others', async () => {
    const cgroup = make('b');
    const [one, two] = [enter(cgroup.entries, 'sleep 60 & sleep 60'), enter(cgroup.entries, 'sleep 60 & sleep 60')];
    await until('both are inside', () => cgroup.basePids().length === 2 || cgroup.basePids().length === 6);
    const groups = [cgroup.addGroup(), cgroup.addGroup()];
    await until('both have children', () => cgroup.basePids().length === 6);
    for (const pid of cgroup.basePids()) {
      const parent = Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
      await groups[pid === one.pid || parent === one.pid ? 0 : 1]?.add(pid);
    }
    expect(groups.map((group) => group.pids().length)).toEqual([3, 3]);
    await groups[0]?.kill();
    expect(groups[0]?.pids()).toEqual([]);
    expect(groups[1]?.pids()).toContain(two.pid);
    for (const group of groups) group.release();
    await cgroup.kill();
    await until('all is removed', () => cgroup.remove());
  });

  it('signal the processes of one group but one, none of which stays frozen', async () => {
    const cgroup = make('s');
    const [spared, stopped, ended, other] = [1, 2, 3, 4].map(() => enter(cgroup.entries, 'exec sleep 60'));
    await until('all are inside', () => cgroup.basePids().length === 4);
    const group = cgroup.addGroup();
    for (const member of [spared!, stopped!, ended!]) await group.add(member.pid!);
    const stateOf = ({ pid }: ChildProcess) => /^State:\t(.)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    stopped!.kill('SIGSTOP');
    await until('it is stopped', () => stateOf(stopped!) === 'T');
    expect(await group.signal('SIGCONT', ended!.pid!)).toBe(2);
    await until('it continues', () => stateOf(stopped!) === 'S');
    expect(await group.signal('SIGTERM', spared!.pid!)).toBe(2);
    await until('two have ended', () => group.pids().length === 1);
    expect(group.pids()).toEqual([spared!.pid]);
    await until('it is not frozen', () => stateOf(spared!) === 'S');
    await until('the other one is not frozen', () => stateOf(other!) === 'S');
    group.release();
    expect(group.pids()).toEqual([]);
    expect(await group.signal('SIGTERM', 0)).toBe(0);
    // What is left after the release can be killed.
    await group.kill();
    await until('it has ended', () => spared!.signalCode === 'SIGKILL');
    await until('the other one is not frozen', () => stateOf(other!) === 'S');
    await cgroup.kill();
    await until('all is removed', () => cgroup.remove());
  });

  it('cannot be removed while they contain processes', async () => {
    const cgroup = make('c');
    enter(cgroup.entries, 'sleep 60');
    await until('it is inside', () => cgroup.basePids().length > 0);
    expect(cgroup.remove()).toBe(false);
    await cgroup.kill();
    await until('it is removed', () => cgroup.remove());
  });
});
