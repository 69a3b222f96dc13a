/**
 * Measures what the network of sandboxes costs: bytes through a connection, connections a second and the latency of a request,
 * each alternated with the same without the proxy; creations with and without a policy; and the memory of many sandboxes that
 * have one. The same for a web server in a sandbox through its opened port. Needs root. `--quick`: fewer rounds. Exit code 1 if a target is missed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Service } from '../scripts/demo/service.mjs';
import { exitCodeOf, judged, median, table } from './exec/table.mjs';
import { previews } from './network/previews.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const PORT = 7001;
const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const MEBIBYTES = quick ? 256 : 1024;
// All rounds together fit into the ports of a client that wait for their end (28,000).
const CONNECTIONS = quick ? 1000 : 2000;
const WORKERS = 4;
const REQUESTS = 2000;
const CREATIONS = quick ? 10 : 40;
const SANDBOXES = quick ? 50 : 1000;
const PREFIX = `11.200.${process.pid % 250}`;
const OUTSIDE = `${PREFIX}.2`;
const LINKS = [`pdb${process.pid % 10_000}a`, `pdb${process.pid % 10_000}b`];
const WRITE_ALL = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];
const POLICY = { mode: 'allow_list', rules: [{ cidr: `${OUTSIDE}/32`, ports: [PORT] }] };
const CLIENT = join(import.meta.dirname, 'network/client.pl');

const directory = mkdtempSync(join(tmpdir(), 'paddock-network-'));
const service = new Service();
const ended = [() => service.stop(), () => rmSync(directory, { recursive: true, force: true })];
/** @type {Record<string, string>[]} */
const rows = [];
try {
  await openOutside();
  const { pid, http_addr } = await service.start({
    root: ROOT,
    bundle: join(ROOT, 'dist/server.mjs'),
    directory,
    sections: { runtime: { uid_range: { start: 2_920_000, size: 2048 }, ready: 0 }, sandbox: { max_per_user: 0 } },
  });
  const codebase = await service.call('POST', '/v1/codebases', { name: 'bench', owner_id: 'bench' });
  await passing(codebase.id);
  await previewing(codebase.id, `http://${http_addr}`);
  await creations(codebase.id);
  await memory(codebase.id, pid);
} finally {
  // Each of them, also after one that failed.
  for (const end of ended) await (async () => end())().catch((error) => process.stderr.write(`${error}\n`));
}
const where = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`;
process.stdout.write(`${where}\n${table([{ title: 'Network of sandboxes', rows }])}`);
process.exitCode = exitCodeOf(rows);

/** A network namespace behind a pair of links, with the servers in it. */
async function openOutside() {
  const holder = spawn('unshare', [
    '-n',
    process.execPath,
    join(import.meta.dirname, 'network/outside.mjs'),
    String(PORT),
  ]);
  ended.unshift(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const ip = (/** @type {string[]} */ ...words) => execFileSync('ip', words);
  const inside = (/** @type {string[]} */ ...words) =>
    execFileSync('nsenter', ['-t', String(holder.pid), '-n', 'ip', ...words]);
  ip('link', 'add', LINKS[0], 'type', 'veth', 'peer', 'name', LINKS[1], 'netns', String(holder.pid));
  ended.unshift(() => void execFileSync('ip', ['link', 'delete', LINKS[0]]));
  ip('address', 'add', `${PREFIX}.1/24`, 'dev', LINKS[0]);
  ip('link', 'set', LINKS[0], 'up');
  inside('address', 'add', `${OUTSIDE}/24`, 'dev', LINKS[1]);
  inside('link', 'set', LINKS[1], 'up');
}

async function create(codebase_id, network) {
  return service.call('POST', '/v1/sandboxes', { codebase_id, permissions: WRITE_ALL, ...(network && { network }) });
}

/** One client of each kind after the other, in the sandbox and beside it. */
async function passing(codebaseId) {
  const { id } = await create(codebaseId, POLICY);
  const text = readFileSync(CLIENT, 'utf8');
  const inside = async (args) => {
    const command = `perl - ${OUTSIDE} ${PORT} ${args} <<'END'\n${text}\nEND`;
    const { stdout, stderr } = await service.call('POST', `/v1/sandboxes/${id}/exec`, { command });
    if (stderr) throw new Error(stderr);
    return Number(stdout);
  };
  copyFileSync(CLIENT, join(directory, 'client.pl'));
  const beside = (args) =>
    Number(execFileSync('perl', [join(directory, 'client.pl'), OUTSIDE, String(PORT), ...args.split(' ')]));
  const measure = async (args) => {
    /** @type {{inside: number[], beside: number[]}} */
    const all = { inside: [], beside: [] };
    for (let round = 0; round < ROUNDS; round++) {
      all.inside.push(await inside(args));
      all.beside.push(beside(args));
    }
    return [median(all.inside), median(all.beside)];
  };
  const [slow, fast] = (await measure(`down ${MEBIBYTES}`)).map((seconds) => (MEBIBYTES * 1.048576) / seconds);
  row('one connection', `${slow.toFixed(0)} MB/s`, `direct ${fast.toFixed(0)} MB/s`, '300 MB/s', slow >= 300);
  const [few, many] = (await measure(`connections ${CONNECTIONS} ${WORKERS}`)).map((seconds) => CONNECTIONS / seconds);
  row('connections a second', few.toFixed(0), `direct ${many.toFixed(0)}`, '2,000', few >= 2000);
  const [late, soon] = await measure(`requests ${REQUESTS}`);
  row('p50 of a request', `${late.toFixed(3)} ms`, `direct ${soon.toFixed(3)} ms`, '+ 1 ms', late - soon <= 1);
  await service.call('DELETE', `/v1/sandboxes/${id}`);
}

/** A web server in a sandbox, and the same one beside it. */
async function previewing(codebaseId, base) {
  const { id } = await create(codebaseId);
  const amounts = { rounds: ROUNDS, mebibytes: MEBIBYTES / 4, requests: CONNECTIONS };
  const { down, many, one } = await previews(service, base, id, amounts);
  const megabytes = down.map((mebibytes) => (mebibytes * 1.048576).toFixed(0));
  row('opened port: one download', `${megabytes[0]} MB/s`, `direct ${megabytes[1]} MB/s`, '', down[0] > 0);
  row(
    'opened port: requests a second, 8 in flight',
    many[0].toFixed(0),
    `direct ${many[1].toFixed(0)}`,
    '',
    many[0] > 0,
  );
  row(
    'opened port: p50 of a request',
    `${one[0].toFixed(2)} ms`,
    `direct ${one[1].toFixed(2)} ms`,
    '+ 5 ms',
    one[0] - one[1] <= 5,
  );
  await service.call('DELETE', `/v1/sandboxes/${id}`);
}

async function creations(codebaseId) {
  const times = { with: [], without: [] };
  for (let round = 0; round < CREATIONS; round++) {
    for (const kind of ['with', 'without']) {
      const start = performance.now();
      const { id } = await create(codebaseId, kind === 'with' ? POLICY : undefined);
      times[kind].push(performance.now() - start);
      await service.call('DELETE', `/v1/sandboxes/${id}`);
    }
  }
  const [slow, fast] = [median(times.with), median(times.without)];
  row(
    'creation with allow_list',
    `${slow.toFixed(1)} ms`,
    `without ${fast.toFixed(1)} ms`,
    '+ 15 ms',
    slow - fast <= 15,
  );
}

/** What each policy adds to the server: sandboxes with one, less the same without. */
async function memory(codebaseId, pid) {
  const resident = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const ids = [];
  const grown = async (network) => {
    const before = resident();
    for (let count = 0; count < SANDBOXES; count++) ids.push((await create(codebaseId, network)).id);
    const after = resident();
    for (const id of ids.splice(0)) await service.call('DELETE', `/v1/sandboxes/${id}`);
    return (after - before) / SANDBOXES;
  };
  await grown(undefined);
  const without = await grown(undefined);
  const [kibibytes] = [(await grown(POLICY)) - without];
  row(
    `memory of the server for a policy, of ${SANDBOXES}`,
    `${kibibytes.toFixed(0)} KB`,
    '',
    '200 KB',
    kibibytes <= 200,
  );
}

function row(name, value, beside, must, reached) {
  rows.push({ name, value, beside, must, verdict: judged(reached) });
  process.stderr.write(`${name}: ${value} (${beside})\n`);
}
