/**
 * What an Exec of `true` costs a separate client process over REST and over gRPC, beside spawning bwrap with the same
 * isolation once per call from that client. One run, the three taking turns, so that a noisy machine is noisy for all.
 * Exit code 1 when an Exec takes more than half of a bwrap of its own at the median.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Service } from '../scripts/demo/service.mjs';
import { bwrapPerCall } from './isolation.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const ROUNDS = 200;
const WARM_UP = 20;
const MOST = 0.5;

const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-'));
const service = new Service();
try {
  await service.start({ root: ROOT, bundle: join(ROOT, 'dist/server.mjs'), directory });
  process.exitCode = (await measure()) ? 0 : 1;
} finally {
  await service.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function measure() {
  const codebase = await service.call('POST', '/v1/codebases', { name: 'bench', owner_id: 'bench' });
  const permissions = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];
  const sandbox = await service.call('POST', '/v1/sandboxes', { codebase_id: codebase.id, permissions });
  const agent = new Agent({ keepAlive: true });
  const path = `/v1/sandboxes/${sandbox.id}/exec`;
  const ways = {
    'Exec over REST': () => service.call('POST', path, { command: 'true' }, agent),
    'Exec over gRPC': () => service.execOverGrpc({ sandbox_id: sandbox.id, command: 'true' }),
    'bwrap per call': await bwrapPerCall(directory, 'true'),
  };
  const times = await takeTurns(ways);
  agent.destroy();
  await service.call('DELETE', `/v1/sandboxes/${sandbox.id}`);
  return report(times);
}

async function takeTurns(ways) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [name, once] of Object.entries(ways)) {
      const began = performance.now();
      await once();
      if (round >= 0) times[name].push(performance.now() - began);
    }
  }
  return times;
}

function report(times) {
  const rows = Object.entries(times).map(([name, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return { name, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
  });
  const own = rows.at(-1).p50;
  process.stdout.write(`${ROUNDS} calls each of true, in ms\n\n`);
  process.stdout.write(`| | p50 | p90 | p99 | p50 to bwrap per call |\n|---|---|---|---|---|\n`);
  for (const { name, p50, p90, p99 } of rows) {
    const figures = [p50, p90, p99].map((ms) => ms.toFixed(2)).join(' | ');
    process.stdout.write(`| ${name} | ${figures} | ${(p50 / own).toFixed(2)} × |\n`);
  }
  return rows.slice(0, -1).every(({ p50 }) => p50 <= MOST * own);
}
