/**
 * Measures what an owner at its limits costs another owner: the p99 of an Exec of the other one while the first floods
 * with 200 connections, compared with the p99 right before the flood. The other owner runs one command at a time with a
 * pause after each. Then it measures /health and memory while requests are in progress that are large, compressed or never
 * complete; `--in-progress` measures these alone. Exit code 1 if a target is missed.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Service } from '../scripts/demo/service.mjs';
import { at, exitCodeOf, judged, table } from './exec/table.mjs';
import { Flooder } from './flood/flooder.mjs';
import { IN_PROGRESS_COLUMNS, inProgressRows } from './flood/in-progress.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const CONNECTIONS = 200;
/** Commands in each phase: enough that the p99 is not the maximum. */
const COMMANDS = 400;
const PAUSE_MS = 10;
/** The flood has its burst behind it. */
const SETTLE_MS = 1500;
const MOST = 1.5;
/** What the machine of the bench serves beside the other owner. */
const LIMITS = { requests_per_second: 10, request_burst: 10, commands: 2, streams: 2, creates_per_minute: 6 };
const WRITE_ALL = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];
const COLUMNS = {
  name: '',
  value: 'Exec of the other owner, p50 and p99',
  quiet: 'before the flood',
  beside: 'p99 compared',
  answers: 'answers to the flood, a second',
  must: 'must reach',
  verdict: 'reached',
};

const directory = mkdtempSync(join(tmpdir(), 'paddock-flood-'));
const adminKey = `pdk_operator_${randomBytes(32).toString('base64url')}`;
const service = new Service();
const agent = new Agent({ keepAlive: true });
let http = { host: '', port: 0 };
/** @type {Record<string, string>[]} */
const rows = [];
/** @type {Record<string, string>[]} */
let inProgress = [];
try {
  const { http_addr, grpc_addr, pid } = await service.start({
    root: ROOT,
    bundle: join(ROOT, 'dist/server.mjs'),
    directory,
    env: { PADDOCK_ADMIN_KEY: adminKey },
    sections: { auth: { mode: 'keys' }, runtime: { uid_range: { start: 2_910_000, size: 64 } } },
  });
  const [host, port] = http_addr.split(/:(?=\d+$)/);
  http = { host, port: Number(port) };
  inProgress = await inProgressRows({ http, grpc: grpc_addr, pid, key: adminKey });
  if (!process.argv.includes('--in-progress')) await measureFloods(grpc_addr);
} finally {
  agent.destroy();
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n`);
process.stdout.write(table([{ title: `One owner floods with ${CONNECTIONS} connections`, rows }], COLUMNS));
process.stdout.write(table([{ title: 'Requests in progress', rows: inProgress }], IN_PROGRESS_COLUMNS));
process.exitCode = exitCodeOf([...rows, ...inProgress]);

async function measureFloods(grpc_addr) {
  const flooding = await owner('flooding', LIMITS);
  const other = await owner('other', {});
  await phase(other);
  for (const { name, call } of floods(flooding)) {
    const quiet = await phase(other);
    const flooder = new Flooder({ http, grpc: grpc_addr, connections: CONNECTIONS, call });
    const began = performance.now();
    await delay(SETTLE_MS);
    const during = await phase(other);
    const answers = await flooder.stop();
    const seconds = (performance.now() - began) / 1000;
    const ratio = at(during, 0.99) / at(quiet, 0.99);
    rows.push({
      name,
      value: shown(during),
      quiet: shown(quiet),
      beside: `${ratio.toFixed(2)} ×`,
      answers: Object.entries(answers)
        .map(([status, count]) => `${status}: ${(count / seconds).toFixed(0)}`)
        .join(', '),
      must: `${MOST} ×`,
      verdict: judged(ratio <= MOST, false),
    });
    process.stderr.write(`${name}: done\n`);
    // The answers that are held now end before the next quiet phase.
    await delay(SETTLE_MS);
  }
}

/** Creates an owner with a key and a sandbox. */
async function owner(name, limits) {
  if (Object.keys(limits).length > 0) await call(adminKey, 'PUT', `/v1/owners/${name}/limits`, { limits });
  const { secret: key } = await call(adminKey, 'POST', '/v1/keys', { name, role: 'owner', owner_id: name });
  const { id: codebase_id } = await call(key, 'POST', '/v1/codebases', { name });
  const { id } = await call(key, 'POST', '/v1/sandboxes', { codebase_id, permissions: WRITE_ALL });
  return { key, id };
}

/** Returns the durations in ms of the commands of one phase. */
async function phase({ key, id }) {
  const times = [];
  while (times.length < COMMANDS) {
    const began = performance.now();
    await call(key, 'POST', `/v1/sandboxes/${id}/exec`, { command: 'true' });
    times.push(performance.now() - began);
    await delay(PAUSE_MS);
  }
  return times;
}

function floods({ key, id }) {
  const path = `/v1/sandboxes/${id}/exec`;
  const exec = { method: 'POST', path, body: JSON.stringify({ command: 'true' }), key, keepAlive: true };
  const grpc = { grpc: true, path: '/service.v1.SandboxService/Exec', body: { sandbox_id: id, command: 'true' }, key };
  const wrong = `pdk_00000000_${'k'.repeat(43)}`;
  return [
    { name: 'Exec', call: exec },
    { name: 'Exec over gRPC', call: grpc },
    { name: 'Exec, a connection for each', call: { ...exec, keepAlive: false } },
    { name: 'commands that never end', call: { ...exec, body: JSON.stringify({ command: 'sleep 60' }) } },
    {
      name: 'bodies of 1 MiB',
      call: { ...exec, body: JSON.stringify({ command: 'true', stdin: 'x'.repeat(2 ** 20) }) },
    },
    { name: 'reads', call: { method: 'GET', path: '/v1/caller', key, keepAlive: true } },
    { name: 'wrong keys', call: { ...exec, key: wrong } },
    { name: 'wrong keys, a connection for each', call: { ...exec, key: wrong, keepAlive: false } },
  ];
}

async function call(key, method, path, body) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const outgoing = request({ ...http, method, path, headers, agent }).end(JSON.stringify(body));
  const [answer] = await once(outgoing, 'response');
  const answered = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answered}`);
  return JSON.parse(answered);
}

function shown(times) {
  return `${at(times, 0.5).toFixed(1)} ms, ${at(times, 0.99).toFixed(1)} ms`;
}
