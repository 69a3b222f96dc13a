/**
 * Measures an Exec of `true` in a docker sandbox, by a separate client process over REST and over gRPC, compared with
 * `docker exec` in a container of the same image: by the command line, and by the two requests of the daemon's API.
 * Then creations with and without ready containers. Uses a private daemon and alternates the variants. Exit code 1 if an Exec
 * takes more than a tenth of a `docker exec`, or a creation with a ready container more than a quarter of one without.
 *   node bench/docker.mjs [rounds [creations]]
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { Service } from '../scripts/demo/service.mjs';
import { creations } from './docker/creations.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const ROUNDS = Number(process.argv[2] ?? 100);
const CREATIONS = Number(process.argv[3] ?? 20);
const WARM_UP = 10;
const MOST = 0.1;
const IMAGE = 'bench';

const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-docker-'));
chmodSync(directory, 0o711);
const { startDaemon, importImage } = await loadHarness();
const daemon = await startDaemon();
const service = new Service();
const pooled = new Service();
try {
  await importImage(daemon.docker, IMAGE, { programs: ['sh', 'env', 'true', 'sleep'] });
  await start(service, { ready: 0, uid_range: { start: 2_900_000, size: 2048 } });
  const isFast = await measure();
  await start(pooled, { uid_range: { start: 2_910_000, size: 2048 } });
  const servers = { 'with ready containers': pooled, 'without ready containers': service };
  process.exitCode = (await creations(servers, CREATIONS)) && isFast ? 0 : 1;
} finally {
  await pooled.stop();
  await service.stop();
  await daemon.stop();
  rmSync(directory, { recursive: true, force: true });
}

async function start(server, settings) {
  const runtime = { type: 'docker', docker: { host: daemon.host, default_image: IMAGE }, ...settings };
  const own = join(directory, `server-${settings.uid_range.start}`);
  mkdirSync(own, { mode: 0o711 });
  await server.start({ root: ROOT, bundle: join(ROOT, 'dist/server.mjs'), directory: own, sections: { runtime } });
}

async function loadHarness() {
  const contents = "export * from './test/docker/daemon.ts'; export * from './test/docker/images.ts';";
  // In this directory, so that imports of packages resolve to node_modules.
  const outfile = join(ROOT, 'node_modules/.cache/bench-docker.mjs');
  /** @type {import('esbuild').StdinOptions} */
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' };
  await build({
    stdin,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

async function measure() {
  const codebase = await service.call('POST', '/v1/codebases', { name: 'bench', owner_id: 'bench' });
  const permissions = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];
  const began = performance.now();
  const sandbox = await service.call('POST', '/v1/sandboxes', { codebase_id: codebase.id, permissions });
  const created = performance.now() - began;
  const plain = await daemon.docker.createContainer({
    Image: IMAGE,
    Cmd: ['/bin/sleep', '3600'],
    HostConfig: { Init: true },
  });
  await plain.start();

  const agent = new Agent({ keepAlive: true });
  const path = `/v1/sandboxes/${sandbox.id}/exec`;
  const times = await takeTurns({
    'Exec over REST': () => service.call('POST', path, { command: 'true' }, agent),
    'Exec over gRPC': () => service.execOverGrpc({ sandbox_id: sandbox.id, command: 'true' }),
    'exec over the API of Docker': () => execOverApi(plain),
    'docker exec': () => execByCommand(plain.id),
  });
  agent.destroy();
  await service.call('DELETE', `/v1/sandboxes/${sandbox.id}`);
  return report(times, created);
}

async function execOverApi(container) {
  const exec = await container.exec({ Cmd: ['/bin/sh', '-c', 'true'], AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({});
  await new Promise((done, failed) => stream.once('error', failed).once('close', done).resume());
}

/** @returns {Promise<void>} */
function execByCommand(id) {
  return new Promise((done, failed) => {
    const child = spawn('docker', ['-H', daemon.host, 'exec', id, '/bin/sh', '-c', 'true'], { stdio: 'ignore' });
    child.once('error', failed);
    child.once('exit', (code) => (code === 0 ? done() : failed(new Error(`docker exec: exit code ${code}`))));
  });
}

async function takeTurns(ways) {
  /** @type {Record<string, number[]>} */
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

function report(times, created) {
  const rows = Object.entries(times).map(([name, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return { name, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
  });
  const own = rows[rows.length - 1].p50;
  process.stdout.write(`${ROUNDS} calls each of true, in ms; CreateSandbox took ${created.toFixed(0)} ms\n\n`);
  process.stdout.write('| | p50 | p90 | p99 | p50 to docker exec |\n|---|---|---|---|---|\n');
  for (const { name, p50, p90, p99 } of rows) {
    const figures = [p50, p90, p99].map((ms) => ms.toFixed(2)).join(' | ');
    process.stdout.write(`| ${name} | ${figures} | ${(p50 / own).toFixed(3)} × |\n`);
  }
  return rows.slice(0, 2).every(({ p50 }) => p50 <= MOST * own);
}
