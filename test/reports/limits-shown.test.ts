import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { expect } from 'vitest';
import { eventually, type Scene } from '../contract/scene.ts';
import { type Case, contract } from '../contract/suite.ts';

const MIB = 1 << 20;
const LIMITS = { memory_bytes: 512 * MIB, cpu_quota: 100_000, cpu_shares: 0, pids_limit: 256 };
const sandboxWith = (scene: Scene, resources: object) =>
  scene.sandboxOn({}, undefined, { resources: { ...LIMITS, ...resources } });
/** Fields of `free -m`. */
const free = async (scene: Scene, sandbox: Awaited<ReturnType<typeof sandboxWith>>) =>
  (await scene.output(sandbox, 'free -m')).split('\n')[1]!.split(/ +/).map(Number);

const CASES: Case[] = [
  {
    name: 'free, /proc and python tell of the memory and the cores of the sandbox',
    async run(scene) {
      const sandbox = await sandboxWith(scene, {});
      expect((await free(scene, sandbox))[1]).toBe(512);
      const count =
        'grep -c ^processor /proc/cpuinfo; grep -c "^cpu[0-9]" /proc/stat; grep -c "^btime [1-9]" /proc/stat';
      expect(await scene.output(sandbox, count)).toBe('1\n1\n1\n');
      const python = '/usr/bin/python3 -c "import os; print(os.cpu_count(), os.sysconf(\'SC_NPROCESSORS_ONLN\'))"';
      expect(await scene.output(sandbox, `${python}; nproc`)).toBe('1 1\n1\n');
    },
  },
  {
    name: 'node and nproc take no more than the sandbox has',
    runtimes: ['bwrap'],
    async run(scene) {
      const sandbox = await sandboxWith(scene, { cpu_quota: 1_000_000_000 });
      const heap = 'v8.getHeapStatistics().heap_size_limit / 2 ** 20';
      const script = `console.log(${heap}, process.constrainedMemory() / 2 ** 20, os.totalmem() / 2 ** 20, os.cpus().length)`;
      const said = await scene.output(sandbox, `${process.execPath} -e '${script}'; nproc`);
      const [heapMib, constrained, total, ...cores] = said.trim().split(/\s/).map(Number);
      expect(heapMib).toBeLessThan(384);
      expect([constrained, total]).toEqual([512, 512]);
      expect(cores).toEqual([availableParallelism(), availableParallelism()]);
    },
  },
  {
    name: 'free tells within seconds what is in use',
    async run(scene) {
      const sandbox = await sandboxWith(scene, {});
      const [, , before = 0] = await free(scene, sandbox);
      expect(before).toBeLessThan(100);
      await scene.output(sandbox, 'head -c 200M /dev/zero >/tmp/file');
      const shared = () => free(scene, sandbox).then((fields) => (fields[4]! >= 200 ? fields : undefined));
      const [, total, used = 0] = await eventually('the file is seen', shared);
      expect([total, used >= 200 && used < 300]).toEqual([512, true]);
    },
  },
  {
    name: 'what is shown cannot be written or replaced',
    async run(scene) {
      const sandbox = await sandboxWith(scene, {});
      const files = '/proc/meminfo /proc/stat /proc/cpuinfo $(find /sys -type f)';
      const attempts = `for f in ${files}; do (echo 1 >$f) 2>/dev/null && echo written $f; rm -f $f 2>/dev/null && echo removed $f; done; `;
      expect(
        await scene.output(
          sandbox,
          `${attempts} mkdir /sys/x 2>/dev/null; rmdir /sys/fs 2>/dev/null; find /sys -type f -user 1000`,
        ),
      ).toBe('');
    },
  },
  {
    name: 'a program finds the limits of its cgroup, in the place that it has by /proc/self',
    runtimes: ['bwrap'],
    async run(scene) {
      const sandbox = await sandboxWith(scene, { cpu_quota: 50_000 });
      const own = "cd /sys/fs/cgroup; [ -e memory ] || cd /sys/fs/cgroup/$(sed -n 's/^0:://p' /proc/self/cgroup)";
      const limits = 'cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us memory.max cpu.max';
      const said = await scene.output(sandbox, `${own}; ${limits} 2>/dev/null; :`);
      expect(said.split(/\s+/).slice(0, 3)).toEqual([String(512 * MIB), '50000', '100000']);
    },
  },
  {
    name: 'a cgroup shows nothing of other sandboxes, the server or the host',
    runtimes: ['bwrap'],
    async run(scene) {
      const [sandbox, other] = [await sandboxWith(scene, {}), await sandboxWith(scene, {})];
      await scene.output(other, 'sleep 60 >/dev/null 2>&1 &');
      const names = await scene.output(sandbox, 'find /sys; cat /proc/self/cgroup /proc/self/mountinfo');
      expect(names).not.toMatch(/paddock-|ready-|spare-/);
      expect(
        names
          .split('\n')
          .filter((line) => !/ \/(workspace|home\/sandbox) /.test(line))
          .join(),
      ).not.toContain(sandbox.id);
      expect(names).not.toContain(other.id);
      const directories = (await scene.output(sandbox, 'find /sys/fs -mindepth 1 -type d')).trim().split('\n');
      expect(directories.map((path) => path.split('/').at(-1))).toSatisfy((all: string[]) =>
        all.every((name) => /^(cgroup|memory|cpu|cpuacct|cpuset|cpu,cpuacct|agent|commands)$/.test(name)),
      );
    },
  },
  {
    name: 'the Java VM of a container is told by its options',
    runtimes: ['docker'],
    async run(scene) {
      const sandbox = await sandboxWith(scene, {});
      const said = await scene.output(sandbox, 'echo "$JDK_JAVA_OPTIONS"; cat /run/agent/java');
      expect(said).toBe(`@/run/agent/java\n-XX:MaxRAM=${512 * MIB}\n-XX:ActiveProcessorCount=1\n`);
    },
  },
];

/** Sandboxes see /usr; a release of Node that is elsewhere is added. */
const node = dirname(dirname(process.execPath));
contract('limits that a sandbox shows', CASES, { runtime: { read_only_paths: node.startsWith('/usr') ? [] : [node] } });
