import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { isMarkedReady } from '../../../../lib/runtime/docker/ready-mark.ts';
import type { ReadySandbox } from '../../../../lib/runtime/runtime.ts';
import { type Daemon, startDaemon } from '../../../docker/daemon.ts';
import { importImage } from '../../../docker/images.ts';
import { openScene, type Scene, sh } from './sandbox.ts';

let dockerd: Daemon;
let scene: Scene;

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'base', { programs: PROGRAMS });
});
afterAll(() => dockerd?.stop());
beforeEach(async () => {
  scene = await openScene(dockerd);
});
afterEach(() => scene?.end());

const PROGRAMS = ['sh', 'env', 'git', 'ls', 'grep', 'id', 'sleep', 'true'];
const MIB = 1024 * 1024;
const limits = (mib: number, pids: number, cpu: number, shares: number) => ({
  ...{ memory_bytes: mib * MIB, pids_limit: pids, cpu_quota: cpu, cpu_shares: shares },
});
const containers = () => dockerd.docker.listContainers({ all: true });
const only = async () => dockerd.docker.getContainer((await containers())[0]!.Id);

/** The limits and the posture of the only container, as the kernel has them. */
async function inForce(): Promise<string[]> {
  const { State } = await (await only()).inspect();
  const status = readFileSync(`/proc/${State.Pid}/status`, 'latin1');
  const files = [
    ...['memory/memory.limit_in_bytes', 'memory/memory.memsw.limit_in_bytes', 'cpu/cpu.cfs_quota_us', 'cpu/cpu.shares'],
    ...['pids/pids.max', 'cpu/cpu.cfs_period_us', 'memory.max', 'memory.swap.max', 'cpu.max', 'cpu.weight', 'pids.max'],
  ];
  const groups = readFileSync(`/proc/${State.Pid}/cgroup`, 'latin1')
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([, , path]) => path !== undefined);
  const values = groups.flatMap(([, controllers, path]) =>
    files.flatMap((file) => {
      // The server's own group is two levels below that of the container.
      const [first, second] = file.split('/');
      if (second !== undefined && !controllers!.split(',').includes(first!)) return [];
      return ['', '../..', 'commands'].flatMap((level) => {
        const root = second === undefined ? '/sys/fs/cgroup' : join('/sys/fs/cgroup', controllers!);
        try {
          return [`${level} ${file} ${readFileSync(join(root, path!, level, second ?? file), 'latin1').trim()}`];
        } catch {
          return [];
        }
      });
    }),
  );
  const kept = /^(Cap|NoNew|Seccomp|Groups|Sig(Ign|Blk)|Umask)/;
  return [...values.sort(), ...status.split('\n').filter((line) => kept.test(line))];
}

it('has the name, the limits and the posture of the sandbox that takes it', async () => {
  const asked = limits(256, 40, 150_000, 512);
  const spec = await scene.spec({ resources: asked });
  const plain = await scene.launch(spec);
  const expected = await inForce();
  expect(expected.length).toBeGreaterThan(8);
  const [made] = await containers();
  const { HostConfig } = await (await only()).inspect();
  await plain.stop();
  for (const guess of [limits(64, 90, 50_000, 2000), limits(512, 20, 200_000, 100), asked]) {
    const sandbox = await scene.launchReady({ ...spec }, guess);
    expect(await inForce()).toEqual(expected);
    const [taken] = await containers();
    expect(taken!.Names).toEqual(made!.Names);
    // No label of a container can be changed: it has none of a sandbox.
    expect(taken!.Labels).toEqual({ 'io.paddock.instance': made!.Labels['io.paddock.instance'] });
    const found = (await (await only()).inspect()).HostConfig;
    for (const each of [HostConfig, found]) delete (each as Partial<typeof each>).Mounts;
    expect(found).toEqual(HostConfig);
    const said = await sh(sandbox, 'git config user.email; ls -A /tmp ~ /dev/shm /workspace | grep -v :; pwd; id -un');
    expect(said.stdout).toBe(`agent@${spec.id}\n\n\n\n/workspace\nsandbox\n`);
    await sandbox.stop();
    expect(await containers()).toEqual([]);
  }
});

it('refuses other kinds of limits, another image, user or place, and a second sandbox', async () => {
  const spec = await scene.spec();
  const ready = await scene.runtime.prepare!(spec);
  for (const other of [{ uid: spec.uid + 1 }, { workspace: '/tmp' }, { image: 'x' }]) {
    await expect(ready.take({ ...spec, ...other })).rejects.toThrow('another kind');
  }
  await expect(ready.take({ ...spec, owner: { group: 'o', memory_bytes: 1, cpu_quota: 0 } })).rejects.toThrow(
    'another',
  );
  const box = await ready.take(spec);
  await expect(ready.take(spec)).rejects.toThrow('has ended');
  await box.stop();
  await expect(scene.launchReady({}, limits(64, 0, 0, 0))).rejects.toThrow('other kinds');
  await expect(scene.launchReady({}, limits(0, 64, 0, 0))).rejects.toThrow('other kinds');
  expect(await containers()).toEqual([]);
});

it.each<[string, (ready: ReadySandbox) => Promise<unknown>, RegExp]>([
  ['it was killed', async () => (await only()).kill(), /has ended/],
  ['it is paused', async () => (await only()).pause(), /does not run/],
  ['somebody has changed a limit', async () => (await only()).update({ PidsLimit: 5000 }), /the limits asked for/],
  [
    'another process was started in it',
    async (ready) => {
      const exec = await (await only()).exec({ Cmd: ['sleep', '60'] });
      await exec.start({ Detach: true } as object);
      await expect.poll(() => ready.isFit(), { timeout: 30_000 }).toBe(false);
    },
    /not as it was/,
  ],
  [
    'its image has another content now',
    () => importImage(dockerd.docker, 'base', { programs: PROGRAMS, changes: ['ENV A=b'] }),
    /image is not the one/,
  ],
  [
    'the name of the sandbox is in use',
    async (ready) => {
      const { Labels } = (await containers())[0]!;
      const name = `paddock-${Labels['io.paddock.instance']}-${named(ready)}`;
      await dockerd.docker.createContainer({ Image: 'base', Entrypoint: ['true'], name, Labels });
    },
    /already in use/,
  ],
])('is not used, and leaves nothing, if %s', async (_, change, text) => {
  const spec = await scene.spec();
  const ready = await scene.runtime.prepare!(spec);
  names.set(ready, spec.id);
  expect(ready.isFit()).toBe(true);
  await change(ready);
  await expect(ready.take(spec)).rejects.toThrow(text);
  await ready.discard();
  if (text.source !== 'already in use') {
    expect(await containers()).toEqual([]);
    return;
  }
  // A sandbox with the same id can be made for itself.
  const box = await scene.launch(spec);
  expect((await containers()).length).toBe(1);
  await box.stop();
  expect(await containers()).toEqual([]);
});
const names = new WeakMap<ReadySandbox, string>();
const named = (ready: ReadySandbox) => names.get(ready)!;

it('is not made of an image that would have to be pulled', async () => {
  await expect(scene.runtime.prepare!(await scene.spec({ image: 'no/such:1' }))).rejects.toThrow('does not have');
  expect(await containers()).toEqual([]);
});

it('is removed by the next server, also one that was being taken, if its own was killed', async () => {
  const state = join(scene.directory, 'state');
  const [free, taken] = [await scene.spec(), await scene.spec()];
  await scene.runtime.prepare!(free);
  await (await scene.runtime.prepare!(taken)).take(taken);
  expect(isMarkedReady(state)).toBe(true);
  const next = await openScene(dockerd, { stateDir: state });
  await next.runtime.reclaim();
  expect(await containers()).toEqual([]);
  expect(isMarkedReady(state)).toBe(false);
  await next.end();
});
