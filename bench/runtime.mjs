/**
 * Measures the runtime alone, in one process, alternating the variants: a command through the agent, one bwrap for each
 * call with the same isolation, a bare `sh -c true`. Then measures concurrency, launches, output and idle memory.
 *   node bench/runtime.mjs [rounds]
 */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { bwrapPerCall } from './isolation.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const ROUNDS = Number(process.argv[2] ?? 200);
const UID = 198_000;
const NO_LIMITS = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 };
const LIMITS = { memory_bytes: 512 << 20, cpu_quota: 0, cpu_shares: 1024, pids_limit: 256 };

const scratch = mkdtempSync('/tmp/paddock-bench-');
chmodSync(scratch, 0o711);
const outfile = join(scratch, 'runtime.mjs');
await build({
  entryPoints: [join(ROOT, 'lib/runtime/bwrap/index.ts')],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile,
  logLevel: 'error',
});
const { createBwrapRuntime } = await import(pathToFileURL(outfile).href);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const runtime = createBwrapRuntime({ bwrapPath: '/usr/bin/bwrap', stateDir: join(scratch, 'state'), log });
await runtime.probe();

let count = 0;
async function launch(resources = NO_LIMITS) {
  const uid = UID + ++count;
  const [workspace, home] = [join(scratch, `w${count}`), join(scratch, `h${count}`)];
  for (const each of [workspace, home]) {
    mkdirSync(each);
    chownSync(each, uid, uid);
  }
  return runtime.launch({
    id: `b${count}`,
    workspace,
    home,
    runDir: join(scratch, 'run', `${count}`),
    uid,
    image: '',
    resources,
  });
}

async function exec(sandbox, command = 'true') {
  const { signal } = new AbortController();
  let bytes = 0;
  const request = { command, stdin: '', env: {}, workdir: '', timeoutMs: 60_000, signal };
  for await (const event of await sandbox.exec(request)) if (event.kind === 'output') bytes += event.data.length;
  return bytes;
}

const bare = () =>
  new Promise((done, failed) => {
    const child = spawn('/bin/sh', ['-c', 'true'], { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
    child.once('error', failed);
    child.once('close', done);
    child.stdout.resume();
    child.stderr.resume();
  });

async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Runs the candidates in turn, so that other load on the machine affects all of them. */
async function alternate(candidates, rounds) {
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (let round = -5; round < rounds; round++) {
    for (const [name, run] of Object.entries(candidates)) {
      const took = await timed(run);
      if (round >= 0) times[name].push(took);
    }
  }
  for (const list of Object.values(times)) list.sort((a, b) => a - b);
  return times;
}

const at = (list, share) => list[Math.min(list.length - 1, Math.floor(list.length * share))];
const out = (text) => process.stdout.write(`${text}\n`);
const row = (name, ...cells) => out(`| ${[name, ...cells].join(' | ')} |`);
const ms = (value) => `${value.toFixed(2)} ms`;

async function perSecond(run, lanes, total) {
  const took = await timed(() =>
    Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let index = lane; index < total; index += lanes) await run(lane);
      }),
    ),
  );
  return (total / took) * 1000;
}

/** Returns the RAM of the processes of a uid range, as proportional set size (shared pages are divided among processes). */
function memoryOf(first, last) {
  let kb = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const uid = Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? -1);
      if (uid < first || uid > last) continue;
      kb += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0);
    } catch {}
  }
  return kb;
}

mkdirSync(join(scratch, 'raw'));
const raw = await bwrapPerCall(join(scratch, 'raw'), 'true');
const one = await launch();
const limited = await launch(LIMITS);
const boxes = await Promise.all(Array.from({ length: 8 }, () => launch()));

row('', 'p50', 'p99');
row('---', '---', '---');
const single = await alternate(
  {
    'Exec `true`': () => exec(one),
    'Exec `true`, with limits': () => exec(limited),
    'bare `sh -c true` from Node': bare,
    'bwrap per call': raw,
    'launch + first Exec + stop': async () => {
      const sandbox = await launch(LIMITS);
      await exec(sandbox);
      await sandbox.stop();
    },
  },
  ROUNDS,
);
for (const [name, list] of Object.entries(single)) row(name, ms(at(list, 0.5)), ms(at(list, 0.99)));
const first = [];
for (let round = 0; round < ROUNDS / 4; round++) {
  /** @type {any} */
  let sandbox;
  first.push(
    await timed(async () => {
      sandbox = await launch(LIMITS);
      await exec(sandbox);
    }),
  );
  await sandbox.stop();
}
first.sort((a, b) => a - b);
row('launch + first Exec', ms(at(first, 0.5)), ms(at(first, 0.99)));

/** @type {[name: string, perSecond: number][]} */
const per = [
  ['bwrap per call, 8 in flight', await perSecond(raw, 8, ROUNDS)],
  ['Exec, 8 in flight, one sandbox', await perSecond(() => exec(one), 8, ROUNDS * 8)],
  ['Exec, 8 in flight, 8 sandboxes', await perSecond((lane) => exec(boxes[lane]), 8, ROUNDS * 8)],
];
for (const [name, value] of per) row(name, `${value.toFixed(0)}/s`, `${(value / per[0][1]).toFixed(1)} x`);

const before = process.memoryUsage.rss();
const took = await timed(() => exec(one, 'head -c 1073741824 /dev/zero'));
const grown = (process.memoryUsage.rss() - before) / 1e6;
row('1 GiB of stdout', `${(1073.741824 / (took / 1000)).toFixed(0)} MB/s`, `rss +${grown.toFixed(0)} MB`);

const from = UID + count + 1;
const many = [];
const up = await timed(async () => {
  many.push(...(await Promise.all(Array.from({ length: 100 }, () => launch(LIMITS)))));
});
await Promise.all(many.map((sandbox) => exec(sandbox)));
row('100 idle sandboxes', `${(memoryOf(from, UID + count) / 100).toFixed(0)} kB PSS each`, '');
const down = await timed(() => Promise.all(many.map((sandbox) => sandbox.stop())));
row('100 launched, 100 stopped at once', ms(up), ms(down));

await Promise.all([one, limited, ...boxes].map((sandbox) => sandbox.stop()));
await runtime.close();
rmSync(scratch, { recursive: true, force: true });
