/**
 * The store of a codebase (lib/store): objects a second written, read and found, in one pack and in many; a load like that of an
 * import beside tar -x and sync -f in the same run. Rates and steps are by CPU time, the import by the clock.
 * usage, in the root of the repository: store.mjs [DIRECTORY ON THE DISK TO MEASURE]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const FILES = 10_000;
const FOLDERS = 100;
const ROUNDS = 5;
const MODULES = [
  'disk/host-disk',
  'store/bulk-writing',
  'store/cache',
  'store/object-store',
  'store/open-files',
  'trees/directory/patch-directory',
  'trees/format/entry',
  'trees/format/keys',
];

const top = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'paddock-store-'));
try {
  const room = await bundled(join(top, 'store.mjs'));
  const contents = Array.from({ length: FILES }, (_, n) => Buffer.alloc(1024, `contents of the file ${n} `));
  writeObjects(room, contents);
  manyPacks(room);
  imports(room, contents);
} finally {
  rmSync(top, { recursive: true });
}

function newStore({ ObjectStore, hostDisk, OpenFiles, Cache }, name) {
  const parts = { disk: hostDisk, files: new OpenFiles(hostDisk), cache: new Cache(64 * 1024 * 1024) };
  const open = () => ObjectStore.open({ ...parts, cache: new Cache(64 * 1024 * 1024) }, join(top, name));
  return { store: ObjectStore.create(parts, join(top, name), 1n), open };
}

function writeObjects(room, contents) {
  /** @type {Record<'written' | 'read' | 'placed' | 'loaded' | 'cached', number[]>} */
  const rates = { written: [], read: [], placed: [], loaded: [], cached: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const { store, open } = newStore(room, `objects-${round}`);
    const writing = store.begin();
    let keys;
    let directories;
    rates.written.push(
      rate(FILES, () => {
        keys = contents.map((each) => writing.putContents(each));
        writing.sync();
      }),
    );
    directories = Array.from(
      { length: FOLDERS },
      (_, n) => directoryOf(room, store, writing, keys.slice(n, n + 100)).key,
    );
    writing.sync();
    rates.read.push(rate(FILES, () => each(keys, (key) => store.bytes(key, 1024))));
    rates.placed.push(rate(FILES, () => each(keys, (key) => store.contents(key, 1024))));
    store.close();
    const again = open();
    rates.loaded.push(rate(FOLDERS, () => each(directories, (key) => again.load(key))));
    rates.cached.push(rate(FOLDERS * 1000, () => repeat(1000, () => each(directories, (key) => again.load(key)))));
  }
  row('contents of 1 KB written, with one sync', rates.written, '/s');
  row('read and checked', rates.read, '/s');
  row('found: descriptor, offset, length', rates.placed, '/s');
  row('directories of 100 entries loaded and checked', rates.loaded, '/s');
  row('from the cache', rates.cached, '/s');
}

/** 200 packs of 1,000 objects each: as many as 3,000,000 objects would have. */
function manyPacks(room) {
  const { store, open } = newStore(room, 'packs');
  const keys = [];
  for (let pack = 0; pack < 200; pack++) {
    const bulk = new room.BulkWriting(room.hostDisk, join(top, 'packs'));
    for (let n = 0; n < 1000; n++) keys.push(bulk.putContents(Buffer.from(`object ${n} of ${pack}`)));
    bulk.sync();
    const writing = store.begin();
    for (const name of bulk.packs) writing.adopt(name);
    writing.sync();
    writing.end();
  }
  const some = keys.filter((_, n) => n % 97 === 0);
  const find = () => rate(some.length, () => each(some, (key) => store.find(key)));
  row('found at random in 200 packs', [find()], '/s');
  const steps = [];
  const merge = store.mergeIndexes();
  for (;;) {
    let done;
    steps.push(
      cpuTime(() => {
        ({ done } = merge.next());
      }),
    );
    if (done) break;
  }
  row('merging their indexes: the longest of 256 steps', [Math.max(...steps)], 'ms');
  row('found with the merged index', [find()], '/s');
  row('opening the store of 200 packs', [cpuTime(open)], 'ms');
}

function imports(room, contents) {
  const from = join(top, 'from');
  for (let d = 0; d < FOLDERS; d++) {
    mkdirSync(join(from, `d${d}`), { recursive: true });
    for (let n = d; n < FILES; n += FOLDERS) writeFileSync(join(from, `d${d}`, `file-${n}`), contents[n]);
  }
  execFileSync('tar', ['-C', from, '-cf', join(top, 'import.tar'), '.']);
  /** @type {[number[], number[]]} */
  const [tar, tree] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const to = join(top, `to-${round}`);
    mkdirSync(to);
    tar.push(
      time(() => execFileSync('sh', ['-c', 'tar -C "$1" -xf "$2" && sync -f "$1"', 'sh', to, join(top, 'import.tar')])),
    );
    tree.push(time(() => importTree(room, `import-${round}`, contents)));
  }
  row(`${FILES} files of 1 KB in ${FOLDERS} directories: tar -x and sync -f`, tar, 'ms');
  row('the same as contents, directories and a version', tree, 'ms');
  process.stdout.write(`ratio of the medians: ${(median(tree) / median(tar)).toFixed(2)}\n`);
}

function importTree(room, name, contents) {
  const { store } = newStore(room, name);
  const writing = store.begin();
  const folders = Array.from({ length: FOLDERS }, (_, d) => {
    const keys = [];
    for (let n = d; n < FILES; n += FOLDERS) keys.push(writing.putContents(contents[n]));
    return { ...directoryOf(room, store, writing, keys), name: `d${String(d).padStart(3, '0')}` };
  });
  const root = { ...folders[0], ...patched(room, store, writing, folders) };
  const version = { number: 1, kind: 'import', createdAt: 0, parent: room.NO_KEY, root, nextIno: 20_000 };
  writing.putVersion({ ...version, author: '', message: '', paths: [], commit: undefined, request: undefined });
  writing.sync();
}

function directoryOf(room, store, writing, keys) {
  const files = keys.map((key, n) => ({ ...file(room, `component-${String(n).padStart(5, '0')}`), size: 1024, key }));
  return { ...file(room, 'd'), ...room.EMPTY_DIRECTORY, mode: 0o755, ...patched(room, store, writing, files) };
}

function patched({ patchDirectory, NO_KEY }, store, writing, entries) {
  return patchDirectory(
    store,
    writing,
    NO_KEY,
    entries.map((entry) => [entry.name, entry]),
  );
}

function file({ TYPE, NO_KEY }, name) {
  const nothing = {
    totals: undefined,
    target: undefined,
    rdev: undefined,
    atime: undefined,
    owner: undefined,
    holes: undefined,
  };
  const times = { mtime: 1_700_000_000, mtimeNs: 5, ctime: 1_700_000_000, ctimeNs: 5 };
  return {
    name,
    type: TYPE.file,
    mode: 0o644,
    nlink: 1,
    ino: 2,
    size: 0,
    ...times,
    key: NO_KEY,
    agentText: false,
    ...nothing,
  };
}

function each(values, run) {
  for (const value of values) run(value);
}

function repeat(times, run) {
  for (let n = 0; n < times; n++) run();
}

/** Milliseconds. */
function time(run) {
  const start = performance.now();
  run();
  return performance.now() - start;
}

/** By CPU time: other processes do not count, nor does the disk. */
function rate(count, run) {
  return count / (cpuTime(run) / 1000);
}

function cpuTime(run) {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function row(what, values, unit) {
  const range = values.length > 1 ? `   ${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}` : '';
  process.stdout.write(`${what.padEnd(64)} ${median(values).toFixed(0).padStart(9)} ${unit}${range}\n`);
}

async function bundled(outfile) {
  const contents = MODULES.map((module) => `export * from './lib/${module}.ts';`).join('\n');
  const stdin = { contents, resolveDir: process.cwd() };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile });
  return await import(pathToFileURL(outfile).href);
}
