/**
 * Measures the server's memory over minutes of ordinary work: sandboxes are created and destroyed, run commands, write,
 * commit and create checkpoints. Prints resident memory by kind of mapping and the live heap of each thread after a full
 * collection, as a time series and as slopes of the second half. A slope of heapUsed, external or heap is a leak; rss and
 * heapTotal vary by tens of MiB with V8's space for new objects. Argument: minutes (default 12). `SOAK_ARENAS=1` limits
 * glibc to one malloc arena.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const ROOT = resolve(import.meta.dirname, '..');
const BUNDLE = process.env.SOAK_BUNDLE ?? join(ROOT, 'dist/server.mjs');
const INTERVAL_MS = 10_000;
const CLIENTS = 2;
const MIB = 2 ** 20;
const WRITE_ALL = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];

const minutes = Number(process.argv[2] ?? 12);
const directory = mkdtempSync(join(tmpdir(), 'paddock-soak-'));
const samples = [];
const counts = { rounds: 0, calls: 0, failed: 0 };
try {
  const server = await start();
  const until = Date.now() + minutes * 60_000;
  const sampler = setInterval(() => samples.push(sample(server.pid)), INTERVAL_MS);
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(server, client, until)));
  clearInterval(sampler);
  samples.push(sample(server.pid));
  server.child.kill('SIGTERM');
  await once(server.child, 'exit');
  report();
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function start() {
  const state = join(directory, 'state');
  const cwd = join(directory, 'empty');
  mkdirSync(cwd, { recursive: true });
  const config = join(directory, 'server.json');
  writeFileSync(
    config,
    JSON.stringify({
      server: { grpc_addr: '127.0.0.1:0', http_addr: '127.0.0.1:0' },
      storage: {
        codebase_path: join(state, 'codebases'),
        mount_path: join(state, 'mounts'),
        db_path: join(state, 'metadata.json'),
      },
      runtime: { uid_range: { start: 2_910_000, size: 2048 } },
      sandbox: { max_per_user: 0 },
    }),
  );
  const child = spawn(process.execPath, [BUNDLE, '-config', config], {
    cwd,
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'soak/memory-probe.mjs'))}`,
      SOAK_MEMORY: join(directory, 'memory.jsonl'),
      SOAK_INTERVAL: String(INTERVAL_MS),
      ...(process.env.SOAK_ARENAS && { MALLOC_ARENA_MAX: process.env.SOAK_ARENAS }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [host, port] = await new Promise((done, failed) => {
    child.once('exit', (code) => failed(new Error(`the server ended with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = line.startsWith('{') ? JSON.parse(line) : {};
      if (entry.msg === 'ready') done(entry.http_addr.split(/:(?=\d+$)/));
    });
  });
  return { child, pid: child.pid, host, port: Number(port), agent: new Agent({ keepAlive: true }) };
}

async function work(server, client, until) {
  const { id: codebase_id } = await call(server, 'POST', '/v1/codebases', { name: `soak-${client}`, owner_id: 'soak' });
  while (Date.now() < until) {
    counts.rounds++;
    try {
      await round(server, codebase_id, counts.rounds);
    } catch (error) {
      counts.failed++;
      if (counts.failed < 10) process.stderr.write(`${error.message}\n`);
    }
  }
}

/** All rounds use the same few file names, so that the state on disk does not grow. */
async function round(server, codebase_id, n) {
  const create = { codebase_id, permissions: WRITE_ALL, labels: {} };
  const { id } = await call(server, 'POST', '/v1/sandboxes', create);
  const path = `/v1/sandboxes/${id}`;
  const exec = (command) => call(server, 'POST', `${path}/exec`, { command });
  await exec(`mkdir -p d${n % 5}; for i in 1 2 3 4 5 6 7 8; do echo ${n} > d${n % 5}/f$i; done; cat d*/f* > all`);
  for (let each = 0; each < 5; each++) await exec('ls -lR . >/dev/null; cat all | wc -c');
  await exec('head -c 1000000 /dev/urandom > big; cp big big2; rm big; mv big2 big3; head -c 200000 big3');
  await call(server, 'GET', `${path}/changes`);
  if (n % 3 === 0) await call(server, 'POST', `${path}/checkpoints`, { name: 'a' });
  await exec('rm big3; echo more >> all');
  if (n % 3 === 0) await call(server, 'POST', `${path}/rollback`, { checkpoint: 'a' });
  await exec('rm -f big3');
  if (n % 2 === 0) await call(server, 'POST', `${path}/commit`, { on_conflict: 'ours' });
  await call(server, 'DELETE', path);
}

function call({ host, port, agent }, method, path, body) {
  counts.calls++;
  return new Promise((done, failed) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const outgoing = request({ host, port, method, path, headers, agent }, async (answer) => {
      try {
        const text = Buffer.concat(await answer.toArray()).toString();
        if (answer.statusCode === 200) done(JSON.parse(text));
        else failed(new Error(`${method} ${path}: ${text}`));
      } catch (error) {
        failed(error);
      }
    });
    outgoing.once('error', failed).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Returns resident anonymous memory: the C heap of the main thread ([heap]), other anonymous mappings, and the total. */
function sample(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  const of = (name, text = rollup) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
  const maps = readFileSync(`/proc/${pid}/smaps`, 'latin1').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const heap = maps.find((map) => map.includes('[heap]')) ?? '';
  // glibc's other arenas are mappings of 64 MiB, aligned to their size.
  const arenas = maps.filter(
    (map) => /^[0-9a-f]*(?:[048c]000000)-/.test(map) && / rw-p 00000000 00:00 0 *\n/.test(map),
  );
  return {
    at: Date.now(),
    rss: of('Rss'),
    anonymous: of('Anonymous'),
    heap: of('Rss', heap),
    arenas: arenas.reduce((sum, map) => sum + of('Rss', map), 0),
  };
}

function report() {
  const memory = join(directory, 'memory.jsonl');
  const lines = existsSync(memory)
    ? readFileSync(memory, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
  process.stdout.write(
    `${counts.rounds} sandboxes, ${counts.calls} calls, ${counts.failed} rounds failed, ${minutes} min\n`,
  );
  const kinds = ['rss', 'anonymous', 'heap', 'arenas'];
  for (const kind of kinds) line(`server ${kind}`, samples, kind);
  for (const thread of ['main', 'fuse']) {
    const own = lines.filter((entry) => entry.thread === thread);
    for (const kind of ['heapUsed', 'heapTotal', 'external', 'arrayBuffers']) line(`${thread} ${kind}`, own, kind);
  }
}

/** Returns a line with the time series in MiB and the slope of the second half (least squares). */
function line(name, values, kind) {
  if (values.length < 4) return;
  const half = values.slice(Math.floor(values.length / 2));
  const along = [0, 0.1, 0.25, 0.5, 0.75, 1].map((part) => values[Math.round(part * (values.length - 1))][kind] / MIB);
  const hours = half.map(({ at }) => at / 3_600_000);
  const mean = (list) => list.reduce((sum, each) => sum + each, 0) / list.length;
  const [x, y] = [mean(hours), mean(half.map((each) => each[kind] / MIB))];
  const above = half.reduce((sum, each, at) => sum + (hours[at] - x) * (each[kind] / MIB - y), 0);
  const below = hours.reduce((sum, hour) => sum + (hour - x) ** 2, 0);
  process.stdout.write(
    `${name.padEnd(20)} ${along.map((mib) => mib.toFixed(1).padStart(8)).join('')} MiB; ${(above / below).toFixed(1)} MiB/h\n`,
  );
}
