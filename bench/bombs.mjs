/**
 * What others notice while one sandbox does its worst: the p99 of GET /health, and of an Exec in another sandbox beside
 * the same on a quiet server. The bombs are those of test/security, or those named as arguments. Exit code 1 when a
 * figure is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { Server } from './exec/server.mjs';
import { at, judged, table } from './exec/table.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const QUIET_MS = 5000;
const LEAST_MS = 3000;
const MOST_HEALTH_MS = 100;
const MOST_EXEC = 5;
const COLUMNS = {
  name: '',
  value: 'GET /health p99',
  beside: 'Exec of another, p50 and p99',
  must: 'must reach',
  verdict: 'reached',
};

const directory = mkdtempSync(join(tmpdir(), 'paddock-bombs-'));
const rows = [];
try {
  const named = process.argv.slice(2);
  const bombs = (await loadBombs()).filter(({ name }) => named.length === 0 || named.includes(name));
  const server = await Server.start(mkdtempSync(join(directory, 'server-')));
  try {
    const other = await server.create();
    await probed(server, other, wait(QUIET_MS / 2));
    const quiet = await probed(server, other, wait(QUIET_MS));
    rows.push({ name: 'quiet', ...shown(quiet) });
    for (const bomb of bombs) {
      const during = await probed(server, other, explode(server, bomb));
      const ratio = at(during.exec, 0.99) / at(quiet.exec, 0.99);
      const reached = at(during.health, 0.99) <= MOST_HEALTH_MS && ratio <= MOST_EXEC;
      rows.push({
        name: bomb.name,
        ...shown(during, ratio),
        must: `${MOST_HEALTH_MS} ms; ${MOST_EXEC} × quiet`,
        verdict: judged(reached, false),
      });
      process.stderr.write(`${bomb.name}: done\n`);
    }
  } finally {
    await server.stop();
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
process.stdout.write(`${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n`);
process.stdout.write(table([{ title: 'Beside a bomb in another sandbox', rows }], COLUMNS));
process.exitCode = rows.some(({ verdict }) => verdict === 'MISSED') ? 1 : 0;

async function explode(server, { command, stdin = '', resources = {}, timeout }) {
  const id = await server.create({ resources });
  const end = performance.now() + LEAST_MS;
  // Its refusals and its end are the tests' concern.
  do await server.call('POST', `/v1/sandboxes/${id}/exec`, { command, stdin, timeout }).catch(() => {});
  while (performance.now() < end);
  await server.destroy(id);
}

async function probed(server, other, until) {
  let ended = false;
  const times = { health: [], exec: [] };
  const repeat = async (all, once, pauseMs) => {
    while (!ended) {
      const began = performance.now();
      await once();
      all.push(performance.now() - began);
      await wait(pauseMs);
    }
  };
  const probes = [
    repeat(times.health, () => server.call('GET', '/health'), 5),
    repeat(times.exec, () => server.exec(other), 5),
  ];
  await until;
  ended = true;
  await Promise.all(probes);
  return times;
}

function shown({ health, exec }, ratio) {
  const ms = (all, share) => `${at(all, share).toFixed(1)} ms`;
  const beside = ratio === undefined ? '' : `, ${ratio.toFixed(1)} × quiet`;
  return { value: ms(health, 0.99), beside: `${ms(exec, 0.5)}, ${ms(exec, 0.99)}${beside}` };
}

async function loadBombs() {
  const outfile = join(directory, 'bombs.mjs');
  const entryPoints = [join(ROOT, 'test/security/bombs.ts')];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' });
  return (await import(pathToFileURL(outfile).href)).BOMBS;
}

function wait(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
