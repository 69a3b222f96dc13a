/**
 * Compares the workspace file system with a plain directory, kernel overlayfs, fuse-overlayfs and bindfs. Each round runs
 * every workload on all of them in turn, so that noise affects all; the best round counts. Prints a Markdown table with
 * the targets and the requests of each workload to the workspace, and draws docs/internals/filesystem-speed.svg. Needs root; drops
 * the kernel's caches.
 *
 *   npm run bench:fs [-- --install] [--rounds=N] [--only=TEXT] [--no-chart] [--directory=DIR]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadFileSystem } from '../scripts/fs-mount/load.mjs';
import { chart } from './fs/chart.mjs';
import { measureCrowds } from './fs/crowd.mjs';
import { databases } from './fs/databases.mjs';
import { judge, requestTable, table } from './fs/report.mjs';
import { install, mountSystems, NAMES, UID } from './fs/systems.mjs';
import { makeCodebase } from './fs/trees.mjs';
import { WORKLOADS } from './fs/workloads.mjs';

const { values: options } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    systems: { type: 'string', default: NAMES.join(',') },
    chart: { type: 'boolean', default: true },
    directory: { type: 'string', default: tmpdir() },
  },
  allowNegative: true,
});
const rounds = Number(options.rounds);
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    stopped = true;
  });
const say = (text) => process.stderr.write(`${text}\n`);

if (options.install) install();
const home = mkdtempSync(join(resolve(options.directory), 'paddock-bench-fs-'));
execFileSync('chmod', ['755', home]);
let mounted;
let workspaces;
try {
  const base = join(home, 'base');
  mkdirSync(base);
  mkdirSync(join(home, 'databases'));
  execFileSync('chmod', ['1777', join(home, 'databases')]);
  say('creating the codebase');
  makeCodebase(base);
  execFileSync('chown', ['-R', `${UID}:${UID}`, base]);
  const fileSystem = await loadFileSystem();
  workspaces = await fileSystem.mount(join(home, 'mnt'));
  mounted = await mountSystems({
    ...{ base, home, workspaces, importTree: fileSystem.importTree },
    names: options.systems.split(','),
  });
  const rows = await measureWorkloads(mounted.directories);
  if ('crowds'.includes(options.only))
    rows.push(...(await measureCrowds({ workspaces, fileSystem, base, home, rounds, median })));
  print(rows);
} finally {
  mounted?.unmount();
  await workspaces?.close();
  rmSync(home, { recursive: true, force: true });
}

async function measureWorkloads(directories) {
  const rows = [];
  const { rows: ofDatabases, left } = databases(join(home, 'databases'));
  for (const sentence of left) say(sentence);
  for (const workload of [...WORKLOADS, ...ofDatabases].filter(({ label }) => label.includes(options.only))) {
    /** @type {Record<string, number[]>} */
    const all = Object.fromEntries(Object.keys(directories).map((name) => [name, []]));
    let requests;
    for (let round = 0; round < rounds; round++) {
      for (const [name, directory] of Object.entries(directories)) {
        await workload.prepare?.(directory);
        const before = await requestCounts();
        all[name].push(await workload.run(directory));
        if (name === 'ours') requests = difference(await requestCounts(), before);
      }
    }
    const times = Object.fromEntries(Object.entries(all).map(([name, values]) => [name, best(values, workload)]));
    const row = { ...workload, times, requests };
    rows.push(row);
    say(
      `${workload.label}: ${Object.entries(times)
        .map(([name, time]) => `${name} ${time.toPrecision(3)}`)
        .join(', ')} ${workload.unit}; ${judge(row).text}`,
    );
  }
  return rows;
}

async function requestCounts() {
  if (stopped) throw new Error('stopped');
  return (await workspaces.usage('ours')).requests;
}

function difference(after, before) {
  return Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, name === 'usage' ? 0 : count - before[name]]),
  );
}

/** Returns the result that was least disturbed by other work on the machine. */
function best(values, { unit }) {
  return unit === '/s' ? Math.max(...values) : Math.min(...values);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function print(rows) {
  const where = `${cpus().length} CPUs, Linux ${release()}, Node ${process.version}, best of ${rounds} rounds, load ${loadavg()[0].toFixed(1)} at the end`;
  process.stdout.write(
    `${where}\n\n${table(rows)}\n\nRequests to the workspace, last round:\n\n${requestTable(rows)}\n`,
  );
  if (options.only === '' && options.chart)
    writeFileSync(resolve(import.meta.dirname, '../docs/internals/filesystem-speed.svg'), chart(rows, where));
  const missed = rows.filter((row) => judge(row).word === '**missed**');
  say(missed.length === 0 ? 'every target met' : `missed: ${missed.map(({ label }) => label).join('; ')}`);
}
