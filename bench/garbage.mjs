/**
 * Garbage collection and check (lib/store) of a codebase of 1,000,000 files of 1 KiB, in 10,000 directories on this disk. CPU time and
 * time, in milliseconds; the longest step is what another call of the store waits for.
 * usage, in the root of the repository: garbage.mjs [FILES]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const FILES = Number(process.argv[2] ?? 1_000_000);
const IN_ONE = 100;
const BYTES = 1024;
const MODULES = [
  'disk/host-disk',
  'store/cache',
  'store/object-store',
  'store/open-files',
  'store/check/check',
  'store/garbage/collection',
  'store/garbage/marking',
  'trees/directory/patch-directory',
  'trees/format/entry',
  'trees/format/keys',
];
const folder = mkdtempSync(join(tmpdir(), 'paddock-garbage-'));
const lib = await bundled();
const disk = lib.hostDisk;
const parts = () => ({ disk, files: new lib.OpenFiles(disk), cache: new lib.Cache(64 * 1024 * 1024) });
const NOTHING = {
  totals: undefined,
  target: undefined,
  rdev: undefined,
  atime: undefined,
  owner: undefined,
  holes: undefined,
};
const TIMES = { mtime: 1_700_000_000, mtimeNs: 5, ctime: 1_700_000_000, ctimeNs: 5 };
const PLACES = {
  load() {
    throw new Error('there are no sandboxes');
  },
};
let ino = 2;
let number = 1;

try {
  let store = lib.ObjectStore.create(parts(), `${folder}/store`, 1n);
  const first = filled(store, 0);
  row('written', first.taken);
  row(
    'indexes merged',
    measured(() => all(store.mergeIndexes())),
  );
  store.close();
  store = lib.ObjectStore.open(parts(), `${folder}/store`);
  const roots = rootsOf(first.key);
  row(
    'marked',
    measured(() => marked(store, roots)),
  );
  row(
    'marked again',
    measured(() => marked(store, roots)),
  );
  row(
    'nothing to collect',
    measured(() => collected(store, roots)),
  );
  const second = filled(store, FILES * 0.4);
  row(`${FILES * 0.6} of them and as many others written`, second.taken);
  row(
    'what the first version alone had is collected',
    measured(() => collected(store, rootsOf(second.key))),
  );
  const check = () => all(new lib.Check({ store, disk, roots: rootsOf(second.key), reads: true }).steps());
  row('checked', measured(check));
} finally {
  rmSync(folder, { recursive: true });
}

function rootsOf(key) {
  return { versions: [{ key, name: 'head' }], directories: [], contents: [], places: PLACES };
}

/** A version with files whose contents are numbered from here on. */
function filled(store, from) {
  const writing = store.begin('no contents');
  let key;
  const taken = measured(() => {
    const root = directory(store, writing, '', FILES, from);
    key = writing.putVersion({
      number: number++,
      kind: 'import',
      createdAt: 1_780_000_000_000,
      parent: lib.NO_KEY,
      root,
      nextIno: ino,
      author: '',
      message: '',
      paths: [],
      commit: undefined,
      request: undefined,
    });
    writing.sync();
    writing.end();
    return 0;
  });
  return { key, taken };
}

function directory(store, writing, name, files, from) {
  const names = Array.from({ length: IN_ONE }, (_, n) => `component-${String(n).padStart(3, '0')}`);
  const part = files / IN_ONE;
  const entries = names.map((each, n) => {
    const at = from + n * part;
    return [each, part > 1 ? directory(store, writing, each, part, at) : file(writing, each, at)];
  });
  const listed = lib.patchDirectory(store, writing, lib.NO_KEY, entries);
  return { ...entry(name), ...lib.EMPTY_DIRECTORY, mode: 0o755, ...listed };
}

function file(writing, name, n) {
  const bytes = Buffer.alloc(BYTES, `contents of file ${n} `);
  return { ...entry(name), key: writing.putContents(bytes) };
}

function entry(name) {
  return {
    name,
    type: 1,
    mode: 0o644,
    nlink: 1,
    ino: ino++,
    size: BYTES,
    ...TIMES,
    key: lib.NO_KEY,
    agentText: false,
    ...NOTHING,
  };
}

function marked(store, roots) {
  const marking = new lib.Marking(store);
  marking.add(roots);
  const longest = all(marking.steps());
  if (marking.keys.size < FILES) throw new Error(`only ${marking.keys.size} objects are marked`);
  return longest;
}

function collected(store, roots) {
  const collection = new lib.Collection(store, disk, () => roots);
  const { longest, last: garbage } = allAndLast(collection.steps());
  collection.remove(garbage);
  process.stdout.write(
    `  ${garbage.packs.length} packs of ${store.packs().length + garbage.packs.length} go, ${mib(garbage.bytes)} MiB; ${mib(garbage.copied)} MiB copied\n`,
  );
  return longest;
}

/** The longest step in milliseconds. */
function all(steps) {
  return allAndLast(steps).longest;
}

function allAndLast(steps) {
  let longest = 0;
  for (;;) {
    const start = performance.now();
    const { value, done } = steps.next();
    longest = Math.max(longest, performance.now() - start);
    if (done) return { longest, last: value };
  }
}

function measured(run) {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const longest = run();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: (user + system) / 1000, time: performance.now() - start, longest };
}

function row(what, { cpu, time, longest }) {
  const step = longest > 0 ? `   longest step ${longest.toFixed(1)}` : '';
  process.stdout.write(
    `${what.padEnd(60)} CPU ${cpu.toFixed(0).padStart(7)}   time ${time.toFixed(0).padStart(7)}${step}\n`,
  );
}

function mib(bytes) {
  return (bytes / 2 ** 20).toFixed(0);
}

async function bundled() {
  const outfile = join(folder, 'store.mjs');
  const contents = MODULES.map((module) => `export * from './lib/${module}.ts';`).join('\n');
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
  });
  return await import(pathToFileURL(outfile).href);
}
