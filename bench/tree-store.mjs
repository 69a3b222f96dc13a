/**
 * The files of a workspace tree (lib/workspaces/tree/disk) on the disk of the temporary folder: appending, opening, freezing,
 * loading. Medians of CPU time; beside them what the design names. The folder is removed at the end.
 * usage, in the root of the repository: tree-store.mjs
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const MODULES = [
  'disk/host-disk',
  'store/open-files',
  'trees/directory/patch-directory',
  'trees/format/entry',
  'trees/format/keys',
  'workspaces/tree/disk/object-cache',
  'workspaces/tree/disk/open-store',
  'workspaces/tree/disk/placed-objects',
  'workspaces/tree/disk/segment-reader',
  'workspaces/tree/disk/sync-steps',
];
const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'paddock-tree-store-'));
const rooms = await bundled();
const { NO_KEY, TYPE, EMPTY_DIRECTORY, hostDisk } = rooms;

const NOTHING = {
  totals: undefined,
  target: undefined,
  rdev: undefined,
  atime: undefined,
  owner: undefined,
  holes: undefined,
};
const TIMES = { mtime: 1_700_000_000, mtimeNs: 5, ctime: 1_700_000_000, ctimeNs: 5 };
const file = (name) => {
  const key = rooms.fileKey({ store: 1n, number: 1, birth: 0, version: 0 });
  return {
    name,
    type: TYPE.file,
    mode: 0o644,
    nlink: 1,
    ino: 9,
    size: 1024,
    ...TIMES,
    key,
    agentText: false,
    ...NOTHING,
  };
};
const tree = { ...file(''), ...EMPTY_DIRECTORY, mode: 0o755 };
const state = (mine) => ({
  ...{ mine, base: tree, version: 1, epoch: 1, sharedEpoch: 0, ownBytes: 0, ownEntries: 0, retainedBytes: 0 },
  ...{ numbers: [], nextSequence: 0, nextNumber: 0, slabMaps: NO_KEY, stores: [], redactionKeys: [] },
});
const cache = new rooms.ObjectCache(64 * MIB);
let stores = 0;

function where(name = `store-${++stores}`) {
  const contents = { steps: () => [], synced: () => undefined, syncFailed: () => undefined };
  /** @type {(steps: any) => Promise<void>} */
  const sync = async (steps) => rooms.runSteps(hostDisk, steps);
  return {
    disk: hostDisk,
    folder: join(folder, name),
    cache,
    seed: /** @type {const} */ ([1, 2]),
    sync,
    contents,
    random: () => 1,
  };
}

/** @type {(times: number, run: () => number) => number} */
function median(times, run) {
  const taken = Array.from({ length: times }, run).sort((a, b) => a - b);
  return taken[Math.floor(times / 2)] ?? 0;
}

/** CPU time: other processes do not count. @type {(run: () => void) => number} */
function milliseconds(run) {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** @type {(what: string, value: number, unit: string, design: string) => void} */
function row(what, value, unit, design) {
  process.stdout.write(`${what.padEnd(64)} ${value.toFixed(2).padStart(8)} ${unit}   design: ${design}\n`);
}

try {
  append();
  open();
  freeze();
} finally {
  rmSync(folder, { recursive: true });
}

function append() {
  const store = rooms.createStore(where(), 1n, state(tree));
  const time = { s: 1, ns: 2 };
  const data = { op: 'data', file: 7, key: file('f').key, size: 9, time };
  const put = { op: 'put', at: [3, 'component.test.ts'], entry: file('component.test.ts'), time };
  /** @type {(what: string, record: any, design: string) => void} */
  const measure = (what, record, design) => {
    const run = () => {
      for (let times = 0; times < 10_000; times++) store.append(record, false);
    };
    const taken = median(20, () => milliseconds(run));
    row(`append of a record, ${what}`, taken / 10, 'µs', design);
  };
  measure('62 bytes', data, '1.3–1.6');
  measure('112 bytes: a new file', put, '–');
  store.close();
}

function open() {
  const at = where();
  const store = rooms.createStore(at, 1n, state(tree));
  const record = { op: 'put', at: [3, 'component.test.ts'], entry: file('component.test.ts'), time: { s: 1, ns: 2 } };
  let count = 0;
  for (; store.bytes < 8 * MIB; count++) store.append(record, false);
  store.close();
  const run = () => {
    const opening = rooms.openStore(at);
    let left = count;
    for (const journal of opening.journals()) for (const _ of journal) left--;
    if (left !== 0) throw new Error(`${left} records are not there`);
    opening.close();
  };
  row(
    `open 8 MiB of journal, ${count} records`,
    median(9, () => milliseconds(run)),
    'ms',
    'in slices',
  );
}

function freeze() {
  const at = where();
  const store = rooms.createStore(at, 1n, state(tree));
  const names = Array.from({ length: 100 }, (_, n) => `component-${String(n * 7919).padStart(7, '0')}`);
  const patch = names.map((name) => [name, file(name)]);
  const NONE = { load: () => undefined };
  /** @type {(sink: any) => any} */
  const encode = (sink) => {
    for (let directories = 0; directories < 100; directories++) rooms.patchDirectory(NONE, sink, NO_KEY, patch);
    return state({ ...tree, ...rooms.patchDirectory(NONE, sink, NO_KEY, patch) });
  };
  const encodeAlone = () => encode({ put: () => NO_KEY });
  row(
    'encode 100 directories of 100 new entries',
    median(9, () => milliseconds(encodeAlone)),
    'ms',
    '–',
  );
  /** @type {any[]} */
  const keys = [];
  const run = () => {
    store.freeze((sink, begin) =>
      begin(encode({ seed: sink.seed, put: (object) => keys.push(sink.put(object)) && keys.at(-1) })),
    );
  };
  row('  and F1: into the segment, the next journal', milliseconds(run), 'ms', '5.7–6.5');
  const reader = new rooms.SegmentReader(hostDisk, new rooms.OpenFiles(hostDisk), at.folder);
  const cold = new rooms.PlacedObjects(new rooms.ObjectCache(0), () => reader);
  const load = (/** @type {any} */ objects) => () => {
    for (const key of keys) objects.load(key);
  };
  const each = 1000 / keys.length;
  row(
    'load a directory of 100 entries, not in the cache',
    median(30, () => milliseconds(load(cold))) * each,
    'µs',
    '–',
  );
  const warm = new rooms.PlacedObjects(cache, () => reader);
  row('  in the cache', median(30, () => milliseconds(load(warm))) * each, 'µs', '–');
  reader.close();
}

async function bundled() {
  const outfile = join(folder, 'rooms.mjs');
  const contents = MODULES.map((module) => `export * from './lib/${module}.ts';`).join('\n');
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  });
  return import(pathToFileURL(outfile).href);
}
