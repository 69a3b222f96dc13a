import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Hierarchy, mountedHierarchies } from '../../../../lib/runtime/cgroup/mounts.ts';
import { parentIn } from '../../../../lib/runtime/docker/default-parent.ts';
import { OwnerCgroups } from '../../../../lib/runtime/docker/owner-cgroups.ts';

const NAME = `paddock-docker-test${process.pid}`;
const OWNER = { group: 'owner-a', memory_bytes: 64 * 2 ** 20, cpu_quota: 50_000 };
const PARENT = '/';
let stateDir: string;
let cgroups: OwnerCgroups;
const children: ChildProcess[] = [];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'paddock-owner-cgroups-'));
  cgroups = new OwnerCgroups(NAME, stateDir);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await cgroups.clear();
  rmSync(stateDir, { recursive: true, force: true });
});

const find = () => Promise.resolve(PARENT);
const memory = () => mountedHierarchies().find(({ controllers }) => controllers.includes('memory'))!;
const group = () => join(memory().mountPoint, NAME, OWNER.group);

/** Does what the daemon does: a cgroup named after the container, in all hierarchies, with its process. */
function startContainer(id: string): number {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  children.push(child);
  for (const { mountPoint, controllers } of mountedHierarchies()) {
    if (!controllers.includes('memory') && !controllers.includes('cpu')) continue;
    const dir = join(mountPoint, NAME, OWNER.group, id);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, 'cgroup.procs'), String(child.pid), { flag: 'r+' });
  }
  return child.pid as number;
}

it('the group of an owner exists until its last container has left', async () => {
  const [one, two] = [await cgroups.enter(OWNER, find), await cgroups.enter(OWNER, find)];
  expect(one.path).toBe(`/${NAME}/owner-a`);
  one.leave();
  one.leave();
  expect(existsSync(group())).toBe(true);
  two.leave();
  expect(existsSync(group())).toBe(false);
});

it('a container counts as limited only in the group to which the limits were written', async () => {
  const cgroup = await cgroups.enter(OWNER, find);
  expect(cgroup.holds('c1', process.pid)).toBe(false);
  const pid = startContainer('c1');
  expect(cgroup.holds('c1', pid)).toBe(true);
  expect(cgroup.holds('c2', pid)).toBe(false);
  expect(cgroup.holds('c1', process.pid)).toBe(false);
});

it('a group that was removed and created again by the daemon does not count', async () => {
  const cgroup = await cgroups.enter(OWNER, find);
  rmdirSync(group());
  const pid = startContainer('c1');
  expect(cgroup.holds('c1', pid)).toBe(false);
});

it('the groups of a killed server are removed by the next one, without asking the daemon', async () => {
  await cgroups.enter(OWNER, find);
  startContainer('c1');
  const next = new OwnerCgroups(NAME, stateDir);
  await next.clear();
  for (const { mountPoint } of mountedHierarchies()) expect(existsSync(join(mountPoint, NAME))).toBe(false);
});

it('the daemon’s parent of containers is unknown with other names, and in another cgroup namespace', () => {
  const v1: Hierarchy[] = ['memory', 'cpu'].map((name) => ({
    version: 1,
    mountPoint: `/c/${name}`,
    controllers: [name],
  }));
  const v2: Hierarchy[] = [{ version: 2, mountPoint: '/c', controllers: ['memory', 'cpu', 'pids'] }];
  expect(parentIn(v1, '2:memory:/docker/f00d\n1:cpu:/docker/f00d\n', 'f00d')).toBe('/docker');
  expect(parentIn(v1, '2:memory:/docker/f00d\n1:cpu:/other/f00d\n', 'f00d')).toBeUndefined();
  expect(parentIn(v2, '0::/docker/f00d\n', 'f00d')).toBe('/docker');
  expect(parentIn(v2, '0::/system.slice/docker-f00d.scope\n', 'f00d')).toBeUndefined();
  expect(parentIn(v2, '0::/\n', 'f00d')).toBeUndefined();
});
