/**
 * Codebases on trees (lib/codebases/tree) on the disk of the folder: an import of 10,000 files of 1 KiB beside `tar -x` and
 * `sync -f`; uploads one after the other and at once; an export. By turns; medians of wall time, and of this process's CPU time beside
 * the import: on a busy machine wall time says how long others ran.
 * usage, in the root of the repository: codebase-trees.mjs [folder] [rounds]
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [place = tmpdir(), rounds = '5'] = process.argv.slice(2);
const FILES = 10_000;
const UPLOADS = 200;
const folder = mkdtempSync(join(place, 'codebase-trees-'));
const room = await bundled({
  'archive/tar': ['memberHead', 'memberPadding', 'tarEnd'],
  'codebases/tree/create-codebase': ['firstHead', 'storeFirst'],
  'codebases/tree/in-units': ['inUnits'],
  'codebases/tree/tree-codebase': ['TreeCodebase'],
  'codebases/tree/tree-quota': ['TreeQuota'],
  'disk/host-disk': ['hostDisk'],
  'store/cache': ['Cache'],
  'store/object-store': ['ObjectStore'],
  'store/open-files': ['OpenFiles'],
});

/** Files of 1 KiB in directories of 100, no two the same. */
function archive() {
  const parts = [];
  for (let n = 0; n < FILES; n++) {
    const path = `d${Math.floor(n / 1000)}/e${Math.floor(n / 100) % 10}/file-${n}.txt`;
    const bytes = Buffer.alloc(1024, `${n} of ${FILES}\n`);
    parts.push(
      room.memberHead({ path, type: 'file', mode: 0o644, mtime: { sec: 1_700_000_000, nsec: 0 }, size: bytes.length }),
    );
    parts.push(bytes, room.memberPadding(bytes.length));
  }
  return Buffer.concat([...parts, room.tarEnd()]);
}

let made = 0;

/** A codebase with a head in memory: what the metadata would take is not in the times. */
function codebase() {
  const at = join(folder, `codebase-${made++}`);
  const disk = room.hostDisk;
  const parts = { disk, files: new room.OpenFiles(disk), cache: new room.Cache(32 * 1024 * 1024) };
  const store = room.ObjectStore.create(parts, at, 1n);
  let head = room.firstHead(store.number, Date.now());
  room.storeFirst(store, head);
  const heads = {
    read: () => head,
    advance: async (from, to) => {
      if (head !== from) return false;
      head = to;
      return true;
    },
  };
  const share = { isLimited: () => false, room: () => Infinity, refusal: () => undefined, reserve() {}, release() {} };
  const quota = new room.TreeQuota({ maxBytes: 0, maxFiles: 0 }, share, { bytes: Infinity, admitting: () => () => {} });
  return new room.TreeCodebase({ id: 'cb', store, disk, heads, quota, run: room.inUnits });
}

async function imported(to, bytes) {
  const importing = to.import();
  for (let at = 0; at < bytes.length; at += 65_536) await importing.feed(bytes.subarray(at, at + 65_536));
  await importing.finish('merge', '');
  importing.drop();
}

async function put(to, path) {
  const upload = to.upload(path);
  upload.write(Buffer.alloc(1024, path));
  await upload.end();
  upload.drop();
}

async function timed(run) {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const bytes = archive();
/** @type {Record<'native' | 'imported' | 'cpu' | 'inRow' | 'atOnce' | 'exported', number[]>} */
const taken = { native: [], imported: [], cpu: [], inRow: [], atOnce: [], exported: [] };
for (let round = 0; round < Number(rounds); round++) {
  const native = join(folder, `native-${round}`);
  mkdirSync(native);
  taken.native.push(
    await timed(() => {
      execFileSync('tar', ['-x', '-C', native], { input: bytes, maxBuffer: 1 });
      execFileSync('sync', ['-f', native]);
    }),
  );
  const one = codebase();
  const cpu = process.cpuUsage();
  taken.imported.push(await timed(() => imported(one, bytes)));
  const { user, system } = process.cpuUsage(cpu);
  taken.cpu.push((user + system) / 1000);
  taken.exported.push(
    await timed(() => {
      const exporting = one.export('');
      while (exporting.next() !== undefined);
      exporting.close();
    }),
  );
  const names = Array.from({ length: UPLOADS }, (_, n) => `src/file-${round}-${n}`);
  const two = codebase();
  taken.inRow.push(
    await timed(async () => {
      for (const name of names) await put(two, name);
    }),
  );
  const three = codebase();
  taken.atOnce.push(await timed(() => Promise.all(names.map((name) => put(three, name)))));
}
const [tar, tree] = [median(taken.native), median(taken.imported)];
const beside = `(CPU ${median(taken.cpu).toFixed(0)}); tar -x and sync -f: ${tar.toFixed(0)} ms; ratio ${(tree / tar).toFixed(2)}`;
const [inRow, atOnce] = [median(taken.inRow).toFixed(0), median(taken.atOnce).toFixed(1)];
process.stdout.write(`import of ${FILES} x 1 KiB: ${tree.toFixed(0)} ms ${beside}
export of the same: ${median(taken.exported).toFixed(0)} ms
${UPLOADS} uploads of 1 KiB, without the metadata: one after the other ${inRow} ms, at once ${atOnce} ms
`);
rmSync(folder, { recursive: true });

/** Exports of files of lib, as one module. */
async function bundled(files) {
  const out = join(folder, 'room.mjs');
  const contents = Object.entries(files)
    .map(([file, names]) => `export { ${names.join(', ')} } from './lib/${file}.ts';`)
    .join('\n');
  await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: out,
    logLevel: 'error',
  });
  return import(pathToFileURL(out).href);
}
