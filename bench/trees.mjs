/**
 * Directory trees (lib/trees, lib/workspaces/tree) in memory: objects, a freeze, and diff, follow and commit of 1,000,000 files. Medians of CPU time; beside them what the design names.
 * usage, in the root of the repository: trees.mjs
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { measureLive } from './trees/live.mjs';

const ROOM = ['algebra/commit', 'algebra/comparison', 'algebra/diff', 'algebra/follow', 'directory/find-entry'];
const FORMAT = ['directory/patch-directory', 'format/entry', 'format/keys', 'format/parse-object'];
const LIVE = ['live-tree', 'epochs', 'freeze', 'changes/names', 'changes/thaw', 'changes/contents'];
const EXCHANGE = ['exchange/head-move', 'exchange/follow-head'];
const trees = await bundled([
  ...[...ROOM, ...FORMAT].map((module) => `trees/${module}`),
  ...[...LIVE, ...EXCHANGE].map((module) => `workspaces/tree/${module}`),
]);
const { NO_KEY, TYPE, EMPTY_DIRECTORY, patchDirectory } = trees;

/** Objects by key; the sink names them by their place, without hashing. */
const objects = new Map();
let offset = 0;
const source = { load: (key) => objects.get(key) };
const placed = {
  seed: /** @type {const} */ ([1, 2]),
  put(object) {
    const key = trees.placeKey({ store: 1n, segment: 0, offset, length: object.bytes.length, crc: 0 });
    offset += object.bytes.length;
    objects.set(key, object);
    return key;
  },
};
let ino = 2;

const NOTHING = {
  totals: undefined,
  target: undefined,
  rdev: undefined,
  atime: undefined,
  owner: undefined,
  holes: undefined,
};

function file(name, contents) {
  const key = trees.hashKey(createHash('sha256').update(String(contents)).digest());
  const times = { mtime: 1_700_000_000, mtimeNs: 5, ctime: 1_700_000_000, ctimeNs: 5 };
  return {
    name,
    type: TYPE.file,
    mode: 0o644,
    nlink: 1,
    ino: ino++,
    size: 1024,
    ...times,
    key,
    agentText: false,
    ...NOTHING,
  };
}

function directory(name, entries) {
  const sorted = entries.sort((a, b) => (a.name < b.name ? -1 : 1)).map((entry) => [entry.name, entry]);
  return { ...file(name, ''), ...EMPTY_DIRECTORY, mode: 0o755, ...patchDirectory(source, placed, NO_KEY, sorted) };
}

/** `tree` with other contents in some files: the changes of a directory of directories by name, and so on. */
function changed(tree, changes) {
  const patch = Object.entries(changes).map(([name, change]) => {
    const entry = trees.findEntry(source, tree.key, name);
    return [name, typeof change === 'number' ? { ...file(name, change), ino: entry.ino } : changed(entry, change)];
  });
  return {
    ...tree,
    ...patchDirectory(
      source,
      placed,
      tree.key,
      patch.sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

/**
 * Median CPU time of a call in milliseconds: other processes do not count. `prepare`: makes another one to be called each
 * time.
 */
function median(times, first, prepare = () => first) {
  let run = first;
  for (let warm = 0; warm < times / 4; warm++, run = prepare()) run();
  const taken = Array.from({ length: times }, () => {
    run = prepare();
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  return taken.sort((a, b) => a - b)[Math.floor(times / 2)];
}

function row(what, value, unit, design) {
  process.stdout.write(`${what.padEnd(58)} ${value.toFixed(2).padStart(8)} ${unit}   design: ${design}\n`);
}

const names = (count) => Array.from({ length: count }, (_, n) => `component-${String(n * 7919).padStart(7, '0')}`);
const each = (count, of) => Object.fromEntries(Array.from({ length: count }, (_, n) => of(n)));

for (const count of [10, 500]) {
  const list = names(count);
  const { key } = directory(
    'd',
    list.map((name) => file(name, 1)),
  );
  let n = 0;
  const find = () => {
    for (let times = 0; times < 1000; times++) trees.findEntry(source, key, list[n++ % count]);
  };
  row(`find and decode, ${count} entries`, median(200, find), 'µs', '0.3–0.5');
  const { bytes } = objects.get(key);
  row(`parse and check an object of ${count} entries`, median(500, () => trees.parseObject(bytes)) * 1000, 'µs', '–');
}

const hundred = directory(
  'root',
  names(100).map((top) =>
    directory(
      top,
      names(100).map((name) => file(name, 1)),
    ),
  ),
);
const path = [names(100)[40], names(100)[70]];
const walk = () => {
  for (let times = 0; times < 1000; times++) {
    const entry = trees.findEntry(source, hundred.key, path[0]);
    trees.findEntry(source, entry.key, path[1]);
  }
};
row('a path of two names', median(200, walk), 'µs', '1.6 for three');
const change = (directories, files) =>
  each(directories, (d) => [names(100)[d], each(files, (f) => [names(100)[f], (d * files + f) * 3])]);
for (const { files, design } of [
  { files: 10, design: '1.0' },
  { files: 100, design: '5.7–6.5' },
]) {
  const patches = prepared(hundred, change(100, files));
  row(
    `freeze, ${100 * files} entries in 100 directories`,
    median(30, () => applied(hundred, patches)),
    'ms',
    design,
  );
}

measureLive(trees, { source, sink: placed, file, names, median, row }, hundred);

const wide = directory(
  'wide',
  names(100_000).map((name) => file(name, 1)),
);
const one = [[names(100_000)[5000], file(names(100_000)[5000], 2)]];
row(
  'one change in a directory of 100,000',
  median(200, () => patchDirectory(source, placed, wide.key, one)),
  'ms',
  '0.05',
);

const leaves = () =>
  names(100).map((name) =>
    directory(
      name,
      names(100).map((each) => file(each, 1)),
    ),
  );
const million = directory(
  'root',
  names(100).map((name) => directory(name, leaves())),
);
const [a, b, c] = names(100);
const small = { [a]: { [b]: { [c]: 7 } } };
const many = { [a]: change(100, 10) };
for (const [what, edit, diffed, followed] of [
  ['one change', small, '0.05', '0.14'],
  ['1,000 in 100 directories', many, '4–5', '8–14'],
]) {
  const other = changed(million, edit);
  const mine = changed(million, { [b]: edit[a], [a]: edit === small ? { [c]: { [a]: 5 } } : changedLast() });
  const again = () => new trees.Comparison(source, () => undefined);
  row(
    `diff of 1,000,000 files, ${what}`,
    median(20, () => [...trees.diff(again(), million, other)]),
    'ms',
    diffed,
  );
  const run = () =>
    trees.follow({ comparison: again(), sink: placed, next: () => ino++ }, { base: million, mine, head: other });
  row(`follow of 1,000,000 files, ${what} on both sides`, median(20, run), 'ms', followed);
  const options = { comparison: again(), choice: everything(), onConflict: '', own: placed, published: placed };
  const time = { s: 0, ns: 0 };
  const numbers = { next: () => ino++, isOwn: () => true };
  const commit = () =>
    trees.commit({ ...options, publish: (_, entry) => entry, time, numbers }, { base: million, mine, head: million });
  row(`commit of them without their contents`, median(20, commit), 'ms', '–');
}

/** The same directories as head's, other files. */
function changedLast() {
  return each(100, (d) => [names(100)[d], each(10, (f) => [names(100)[99 - f], d * 100 + f])]);
}

function everything() {
  const yes = () => true;
  return { has: yes, below: yes, all: yes };
}

/** New entries made ahead, so that a freeze is measured alone. */
function prepared(tree, changes) {
  return Object.entries(changes).map(([name, files]) => {
    const entry = trees.findEntry(source, tree.key, name);
    return { entry, patch: Object.entries(files).map(([each, contents]) => [each, file(each, contents)]) };
  });
}

/** Objects are written and forgotten, as in a freeze. */
function applied(tree, patches) {
  const written = {
    seed: placed.seed,
    put: (object) => trees.placeKey({ store: 1n, segment: 0, offset: 0, length: object.bytes.length, crc: 0 }),
  };
  const top = patches.map(({ entry, patch }) => [
    entry.name,
    { ...entry, ...patchDirectory(source, written, entry.key, patch) },
  ]);
  patchDirectory(source, written, tree.key, top);
}

async function bundled(modules) {
  const folder = mkdtempSync(join(tmpdir(), 'paddock-trees-'));
  const outfile = join(folder, 'trees.mjs');
  const contents = modules.map((module) => `export * from './lib/${module}.ts';`).join('\n');
  try {
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
