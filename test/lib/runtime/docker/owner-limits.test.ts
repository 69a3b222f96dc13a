import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { mountedHierarchies } from '../../../../lib/runtime/cgroup/mounts.ts';
import type { OwnerResources, RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import { SHARED_IMAGE, sharedDockerHost } from '../../../docker/shared-daemon.ts';
import { until } from '../bwrap/fixture.ts';
import { openScene, type Scene, sh } from './sandbox.ts';

const MIB = 2 ** 20;
let scene: Scene | undefined;

afterEach(async () => {
  await scene?.end();
  scene = undefined;
});

/** The directories of a group in all hierarchies, below the default parent of the daemon. */
function groupsNamed(group: string): string[] {
  const found: string[] = [];
  const walk = (dir: string, depth: number): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true }).filter((each) => each.isDirectory())) {
      if (entry.name === group) found.push(join(dir, entry.name));
      else if (depth > 0 && entry.name.startsWith('paddock-')) walk(join(dir, entry.name), depth - 1);
    }
  };
  for (const { mountPoint } of mountedHierarchies()) walk(mountPoint, 2);
  return found;
}

/** Fills a buffer of memory, and prints a line once it has it. */
const filling = (mib: number) => `dd if=/dev/zero of=/dev/null bs=${mib}M count=1 2>/dev/null && echo filled`;

it('two containers of an owner share one limit of memory and CPU, below the daemon’s own parent of containers', async () => {
  const host = await sharedDockerHost();
  const opened = await openScene({ host });
  scene = opened;
  const group = `owner-a${process.pid}`;
  const owner: OwnerResources = { group, memory_bytes: 64 * MIB, cpu_quota: 50_000 };
  const launch = (resources: OwnerResources): Promise<RunningSandbox> =>
    opened.launch({
      image: SHARED_IMAGE,
      owner: resources,
      // A quota above the owner's, which v1 would refuse.
      resources: { memory_bytes: 0, cpu_quota: 90_000, cpu_shares: 0, pids_limit: 64 },
    });
  // The first start finds the daemon's parent of containers for all.
  const one = await launch(owner);
  const [two, other] = await Promise.all([launch(owner), launch({ ...owner, group: `owner-b${process.pid}` })]);
  const [dir] = groupsNamed(group);
  expect(dir).toContain(new URL(host).pathname.split('/').at(-2));

  const abort = new AbortController();
  const held = sh(one, 'dd if=/dev/zero bs=24M count=1 2>/dev/null | sleep 300', {
    signal: abort.signal,
    timeoutMs: 300_000,
  });
  held.catch(() => undefined);
  const files = groupsNamed(group).flatMap((each) =>
    ['memory.current', 'memory.usage_in_bytes'].map((name) => join(each, name)),
  );
  const usage = () => Math.max(...files.filter(existsSync).map((file) => Number(readFileSync(file, 'latin1'))));
  await until('the first container has its memory', () => usage() > 24 * MIB);
  const killed = await sh(two, filling(48));
  expect(killed.stdout).toBe('');
  expect(killed.stderr).toContain(`the limit of ${64 * MIB} bytes for all sandboxes of its owner was reached`);
  expect((await sh(other, filling(48))).stdout).toBe('filled\n');
  abort.abort();
  await held.catch(() => undefined);
  expect((await sh(two, filling(48))).stdout).toBe('filled\n');

  await one.stop();
  expect(groupsNamed(group)).not.toEqual([]);
  await two.stop();
  expect(groupsNamed(group)).toEqual([]);
});

it('a sandbox whose owner has limits is refused if the daemon’s cgroup driver is systemd', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.setHeader('content-type', 'application/json').end('{"CgroupDriver": "systemd"}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as { port: number };
    scene = await openScene({ host: `tcp://127.0.0.1:${port}` });
    const owner = { group: 'owner-a', memory_bytes: 64 * MIB, cpu_quota: 0 };
    await expect(scene.launch({ owner })).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message:
        'memory_bytes and cpu_quota of the owner’s limits cannot be enforced with the runtime docker: ' +
        'the daemon’s cgroup driver is systemd, and must be cgroupfs (native.cgroupdriver)',
    });
    expect(asked).toEqual(['/info']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
