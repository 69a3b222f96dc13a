/** Measures the file system against itself: many rules, many sandboxes, a sandbox that floods it with requests. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { ALL_WRITE, spec, UID } from './systems.mjs';
import { MANY_FILES, name } from './trees.mjs';
import { dropCaches, LOAD, walk } from './workloads.mjs';

const run = promisify(execFile);
const SANDBOXES = 1000;
const UNUSED = 4000;
const walkMany = walk('many');

/** Returns rows of {label, unit, before, after, target}: the best of alternating rounds; for the p99 their median. */
export async function measureCrowds({ workspaces, fileSystem, base, home, rounds, median }) {
  const turns = async (ways) => {
    const times = ways.map(() => []);
    for (let round = 0; round < rounds; round++) for (const [i, way] of ways.entries()) times[i].push(await way());
    return times.map((each) => Math.min(...each));
  };
  const colds = (dir) => async () => {
    await dropCaches();
    return walkMany(dir);
  };
  const warms = (dir) => async () => {
    await walkMany(dir);
    return walkMany(dir);
  };
  const rows = [];
  const row = (label, unit, /** @type {any[]} */ [before, after], target) =>
    rows.push({ label, unit, before, after, target });

  const few = await workspaces.attach(spec('few', base, join(home, 'few'), { rules: FEW }));
  const many = await workspaces.attach(spec('many', base, join(home, 'many'), { rules: MANY }));
  row('10,000 rules against 4, walk of 10,000 files, cold', 's', await turns([colds(few), colds(many)]), {
    ratio: [1.3, 1.05],
  });

  const alone = await workspaces.attach(spec('alone', base, join(home, 'alone')));
  const crowd = await fileSystem.mount(join(home, 'crowd'));
  try {
    mkdirSync(join(home, 'deltas'));
    const attach = (i) => crowd.attach(spec(`sandbox-${i}`, base, join(home, 'deltas', String(i)), { uid: UID }));
    const one = await attach(0);
    for (let i = 1; i < SANDBOXES; i++) await attach(i);
    row('1,000 sandboxes against one, walk, warm', 's', await turns([warms(alone), warms(one)]), { ratio: [1.2, 1] });
    row('1,000 sandboxes against one, walk, cold', 's', await turns([colds(alone), colds(one)]), { ratio: [1.2, 1] });

    const before = process.memoryUsage().rss;
    for (let i = 0; i < UNUSED; i++) await attach(SANDBOXES + i);
    const each = Math.max(0, process.memoryUsage().rss - before) / 1024 / UNUSED;
    row('memory of a sandbox never used', 'KiB', [undefined, each], { most: [50, 10] });

    const other = await attach(SANDBOXES + UNUSED);
    row('p99 of a request while another sandbox floods', 'µs', await flooded(one, other, rounds, median), {
      ratio: [3, 1.5],
    });
  } finally {
    await crowd.close();
  }
  return rows;
}

async function flooded(flooder, other, rounds, median) {
  const quiet = [];
  const loud = [];
  const groups = cpuGroups('flooder', 'other');
  const among = (group, directory, ...args) =>
    ['-c', 'echo $$ >"$0" && exec perl -U "$@"', group, LOAD, UID, directory, ...args].map(String);
  const p99 = async (path) =>
    Number((await run('/bin/sh', among(groups.other, other, 'p99', 500, path), { cwd: '/' })).stdout);
  try {
    for (let round = 0; round < rounds; round++) {
      quiet.push(await p99(`many/q${round}`));
      const flood = spawn('/bin/sh', among(groups.flooder, flooder, 'flood', 16), { cwd: '/', stdio: 'ignore' });
      const ended = new Promise((end) => flood.on('exit', end));
      await sleep(500);
      try {
        loud.push(await p99(`many/l${round}`));
      } finally {
        flood.kill('SIGTERM');
        await ended;
      }
    }
  } finally {
    await groups.remove();
  }
  return [median(quiet), median(loud)];
}

/** Creates a CPU cgroup for each name, as every sandbox has one. Returns its cgroup.procs file by name. */
function cpuGroups(...names) {
  const root = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup'].find((at) => existsSync(join(at, 'cgroup.procs')));
  if (root === undefined) throw new Error('no CPU cgroups are mounted');
  const directories = names.map((each) => join(root, `paddock-bench-${process.pid}-${each}`));
  for (const directory of directories) mkdirSync(directory);
  const files = directories.map((directory) => join(directory, 'cgroup.procs'));
  return {
    ...Object.fromEntries(names.map((each, i) => [each, files[i]])),
    async remove() {
      // A killed process leaves the cgroup asynchronously.
      for (const file of files) while (readFileSync(file, 'latin1') !== '') await sleep(10);
      for (const directory of directories) rmdirSync(directory);
    },
  };
}

const FEW = [
  ...ALL_WRITE,
  { pattern: '/many/**', permission: 'PERMISSION_READ', type: 'PATTERN_GLOB', priority: 1 },
  { pattern: '**/.env', permission: 'PERMISSION_NONE', type: 'PATTERN_GLOB', priority: 2 },
  { pattern: '/repo/.git', permission: 'PERMISSION_READ', type: 'PATTERN_DIRECTORY', priority: 1 },
];

const MANY = [
  ...ALL_WRITE,
  ...Array.from({ length: MANY_FILES - 1 }, (_, i) => ({
    pattern: `/many/${name(i)}`,
    permission: 'PERMISSION_READ',
    type: 'PATTERN_FILE',
    priority: 1,
  })),
];
