/**
 * The rows of the table. `run` resolves to the seconds (for loops: microseconds per call) that the workload took in a
 * directory; `prepare` runs before it, unmeasured. `target` gives the compared figure, and the required and desired value:
 *   speed: native time / ours, at least     time: ours / native time, at most
 *   rival: ours / fuse-overlayfs, at most   above: microseconds above native, at most
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { UID } from './systems.mjs';
import { BIG_MIB, MANY_FILES, name } from './trees.mjs';

export const LOAD = join(import.meta.dirname, 'load.pl');
/** Pause after dropping the kernel's caches, so that the following FORGET requests do not disturb the next workload. */
const SETTLE_MS = 300;
/** Makes the names of each run new, so that the kernel has none of them cached. */
let fresh = 0;

const run = promisify(execFile);

/**
 * Runs a load of load.pl in a directory; paths are relative to it, like those of a program in its workspace. This thread
 * must not wait for the load synchronously: it runs the syncs of the file system that is measured.
 */
export async function load(directory, ...args) {
  const { stdout } = await run('perl', ['-U', LOAD, UID, directory, ...args].map(String), { cwd: '/' });
  return Number(stdout.trim().split('\n').at(-1));
}

export async function dropCaches() {
  writeFileSync('/proc/sys/vm/drop_caches', '3');
  await sleep(SETTLE_MS);
}

const command =
  (...args) =>
  (dir) =>
    load(dir, 'command', ...args);
const shell = (script) => command('/bin/sh', '-c', script);
const cold = (run) => ({ prepare: dropCaches, run });
/** Warms up twice, because after the first run the kernel requests the attributes of the files that were read once more. */
const warmed = (run) => ({
  async prepare(dir) {
    await run(dir);
    await run(dir);
  },
  run,
});
const loop = (kind, calls, path) => ({
  calls,
  prepare: (dir) => load(dir, kind, 10, path),
  run: (dir) => load(dir, kind, calls, path),
});

export const walk = (directory) => shell(`find ${directory} -printf '%s\\n' >/dev/null`);
const grep = shell('grep -r nothing-has-this npm >/dev/null || [ $? = 1 ]');
const cat = shell('find npm -type f -exec cat {} + >/dev/null');
const status = shell('cd repo && git status >/dev/null');
const read = command('dd', 'if=big', 'of=/dev/null', 'bs=1M', 'status=none');
const untar = shell('mkdir untar && tar -C untar -xf npm.tar');
const remove = (path) => shell(`rm -rf ${path}`);
const emptied = shell('rm -rf new && mkdir new');

const FILES = 1500;

export const WORKLOADS = [
  {
    label: 'stat, warm',
    unit: 'µs',
    ...loop('stat', 100_000, `many/${name(7)}`),
    target: { speed: [0.85, 1] },
  },
  {
    label: 'stat of a missing name, warm',
    unit: 'µs',
    ...loop('negative', 100_000, 'many/absent'),
    target: { speed: [0.8, 1] },
  },
  {
    label: 'open + read 4 KiB + close, warm',
    unit: 'µs',
    ...loop('open', 50_000, `many/${name(9)}`),
    target: { speed: [0.6, 0.8] },
  },
  {
    label: 'find -printf %s of 10,000 files, warm',
    unit: 's',
    ...warmed(walk('many')),
    target: { time: [1.4, 1.1] },
  },
  {
    label: 'find -printf %s of the npm tree, warm',
    unit: 's',
    ...warmed(walk('npm')),
    target: { time: [1.4, 1.1] },
  },
  { label: 'grep -r, warm', unit: 's', ...warmed(grep), target: { time: [1.4, 1.1] } },
  { label: 'cat of everything, warm', unit: 's', ...warmed(cat), target: { time: [1.4, 1.1] } },
  {
    label: 'git status, first',
    unit: 's',
    async prepare(dir) {
      // Records the inode numbers in the index, like the first status of a checkout.
      await status(dir);
      await dropCaches();
    },
    run: status,
    target: { time: [4, 2.5] },
  },
  { label: 'git status, warm', unit: 's', ...warmed(status), target: { time: [1.4, 1.1] } },
  {
    label: 'walk with stat of 10,000 files, cold',
    unit: 's',
    calls: MANY_FILES,
    ...cold(walk('many')),
    target: { time: [3, 1.5] },
  },
  {
    label: 'find of 10,000 files, cold',
    unit: 's',
    ...cold(shell('find many >/dev/null')),
    target: { rival: [1, 0.8] },
  },
  {
    label: 'cat of 10,000 files, cold',
    unit: 's',
    ...cold(shell('cd many && cat * >/dev/null')),
    target: { rival: [1, 0.8] },
  },
  { label: 'tar -x of the npm tree', unit: 's', prepare: remove('untar'), run: untar, target: { rival: [0.6, 0.35] } },
  {
    label: 'rm -rf of it',
    unit: 's',
    async prepare(dir) {
      await remove('untar')(dir);
      await untar(dir);
    },
    run: remove('untar'),
    target: { rival: [0.6, 0.35] },
  },
  {
    label: 'create + write 4 KiB + close',
    unit: 'µs',
    calls: FILES,
    prepare: emptied,
    run: (dir) => load(dir, 'create', FILES, 'new/file'),
    target: { above: [170, 120] },
  },
  {
    label: 'unlink',
    unit: 'µs',
    calls: FILES,
    async prepare(dir) {
      await emptied(dir);
      await load(dir, 'create', FILES, 'new/file');
    },
    run: (dir) => load(dir, 'unlink', FILES, 'new/file'),
    target: { above: [45, 30] },
  },
  {
    label: 'sed -i over 300 files',
    unit: 's',
    prepare: shell('rm -rf new && mkdir new && cp many/file-00[012]* new'),
    run: shell("sed -i 's/quick/slow/' new/*"),
    target: { time: [1.7, 1.3] },
  },
  {
    label: 'rm -rf of 5,000 files',
    unit: 's',
    prepare: shell('rm -rf new && mkdir new && seq -f new/%.0f 5000 | xargs touch'),
    run: remove('new'),
    target: { time: [1.5, 1.2] },
  },
  {
    label: 'git add and commit of the npm tree',
    unit: 's',
    prepare: shell('rm -rf new && cp -r npm new && git -C new init -q'),
    run: shell('cd new && git add -A && git -c user.name=bench -c user.email=bench@localhost commit -qm All'),
    target: { time: [1.7, 1.3] },
  },
  {
    label: 'cp -r and rm -rf of the npm tree',
    unit: 's',
    prepare: remove('new'),
    run: shell('cp -r npm new && rm -rf new'),
    target: { time: [1.7, 1.3] },
  },
  { label: `sequential read of ${BIG_MIB} MiB, cold`, unit: 's', ...cold(read), target: { speed: [0.35, 0.5] } },
  { label: `sequential read of ${BIG_MIB} MiB, warm`, unit: 's', ...warmed(read), target: { speed: [0.9, 1] } },
  {
    label: `write of ${BIG_MIB} MiB in 1 MiB blocks`,
    unit: 's',
    prepare: remove('out'),
    run: command('dd', 'if=/dev/zero', 'of=out', 'bs=1M', `count=${BIG_MIB}`, 'status=none'),
    target: { speed: [0.3, 0.9] },
  },
  {
    label: 'lookups of uncached names, 16 clients',
    unit: '/s',
    run: (dir) => load(dir, 'lookups', 16, 2000, `many/absent-${fresh++}`),
    target: { rate: [50_000, 100_000] },
  },
];
