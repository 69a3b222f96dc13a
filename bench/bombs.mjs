/**
 * Measures the effect of a sandbox that exhausts a resource (a bomb) on other callers: the p99 of GET /health and of an
 * Exec in another sandbox, compared with a quiet server. It also measures the causes: the delay of the main thread's
 * event loop and its longest step in CPU time, and the delay of requests to the request worker of the file system. The
 * bombs are those of test/security and of bombs/clients.mjs, or those named as arguments; a second table has the file work
 * of another sandbox during floods of file requests. What the machine itself costs
 * is shown by a bare `sh -c true` beside each bomb, and by control rows without a target: the same program on a
 * directory of the host, and a bare sh beside it. Exit code 1 if a target is missed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { BombClient } from './bombs/bomb-client.mjs';
import { CLIENT_BOMBS } from './bombs/clients.mjs';
import { loopDelay, measuredEnvironment, mountPointOf, requestDelay } from './bombs/delays.mjs';
import { FLOOD_COLUMNS, fileFloods } from './bombs/file-floods.mjs';
import { Server } from './exec/server.mjs';
import { at, exitCodeOf, judged, table } from './exec/table.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const QUIET_MS = 5000;
const LEAST_MS = 3000;
const MOST_HEALTH_MS = 100;
const MOST_EXEC = 5;
/** Bombs with a control row: they use all CPUs, whoever serves their files. */
const CONTROLLED = new Set(['lookups in the workspace', 'changes of the workspace']);
const COLUMNS = {
  name: '',
  value: 'GET /health p99',
  beside: 'Exec of another sandbox, p50 and p99',
  bare: 'a bare sh beside, p99',
  loop: 'event loop delay, p99 and maximum',
  step: 'longest step of the main thread (CPU time)',
  worker: 'request worker delay, p99 and maximum',
  must: 'must reach',
  verdict: 'reached',
};

const directory = mkdtempSync(join(tmpdir(), 'paddock-bombs-'));
/** @type {Record<string, string>[]} */
const rows = [];
/** @type {Record<string, string>[]} */
const floods = [];
try {
  const named = process.argv.slice(2);
  const isNamed = ({ name }) => named.length === 0 || named.includes(name);
  const bombs = [...(await load('bombs')).BOMBS, ...CLIENT_BOMBS].filter(isNamed);
  const { FILE_FLOODS, fileWork } = await load('file-floods');
  const state = mkdtempSync(join(directory, 'server-'));
  const server = await Server.start(state, measuredEnvironment(directory));
  const client = new BombClient(server.address);
  try {
    const other = await server.create();
    const mountPoint = mountPointOf(join(state, 'state/mounts'));
    await probed(server, other, mountPoint, wait(QUIET_MS / 2));
    const quiet = await probed(server, other, mountPoint, wait(QUIET_MS));
    rows.push({ name: 'quiet', ...shown(quiet) });
    const quietHost = bombs.some(({ name }) => CONTROLLED.has(name)) ? await bareTimes(wait(QUIET_MS / 2)) : [];
    for (const bomb of bombs) {
      const during = await probed(server, other, mountPoint, explode(server, client, bomb));
      const ratio = at(during.exec, 0.99) / at(quiet.exec, 0.99);
      const bareRatio = at(during.bare, 0.99) / at(quiet.bare, 0.99);
      const { mostExecMs } = bomb;
      const execReached = mostExecMs === undefined ? ratio <= MOST_EXEC : at(during.exec, 0.99) <= mostExecMs;
      const reached = at(during.health, 0.99) <= MOST_HEALTH_MS && execReached;
      rows.push({
        name: bomb.name,
        ...shown(during, ratio, bareRatio),
        must: `${MOST_HEALTH_MS} ms; ${mostExecMs === undefined ? `${MOST_EXEC} × quiet` : `${mostExecMs} ms`}`,
        verdict: judged(reached, false),
      });
      if (CONTROLLED.has(bomb.name)) rows.push(control(bomb, await bareTimes(onHost(bomb)), quietHost));
      process.stderr.write(`${bomb.name}: done\n`);
    }
    floods.push(...(await fileFloods(server, client, FILE_FLOODS.filter(isNamed), fileWork)));
  } finally {
    await client.stop();
    await server.stop();
  }
} finally {
  // fs.rmSync calls itself for each level, and a bomb leaves 20,000.
  execFileSync('rm', ['-rf', directory]);
}
process.stdout.write(`${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n`);
process.stdout.write(table([{ title: 'Latency during a bomb in another sandbox', rows }], COLUMNS));
process.stdout.write(
  table([{ title: 'File work of another sandbox during a flood of file requests', rows: floods }], FLOOD_COLUMNS),
);
process.exitCode = exitCodeOf([...rows, ...floods]);

async function explode(server, client, bomb) {
  const { command, stdin = '', resources = {}, timeout, create = { resources }, run } = bomb;
  const id = await server.create(create);
  const began = performance.now();
  const until = (ms) => performance.now() - began < ms;
  const path = `/v1/sandboxes/${id}`;
  // The tests check its result.
  const call = (method, below, body) => client.send(method, `${path}${below}`, body);
  const exec = (text, more = {}) => call('POST', '/exec', { command: text, ...more });
  if (run) await run({ exec, call, until });
  else
    do await exec(command, { stdin, timeout });
    while (until(LEAST_MS));
  await server.destroy(id).catch(() => server.call('DELETE', `${path}?discard=true`).catch(() => {}));
}

/** Runs the program of a bomb on a directory of the host. */
function onHost({ command, stdin }) {
  const workspace = mkdtempSync(join(directory, 'host-'));
  const child = spawn('sh', ['-c', command], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.end(stdin.replaceAll('/workspace', workspace));
  return new Promise((done) => child.once('close', done));
}

/** In a session of its own, as a sandbox has: the kernel's autogroups divide the CPUs between sessions. */
function bareShell() {
  return new Promise((done) => spawn('sh', ['-c', 'true'], { stdio: 'ignore', detached: true }).once('close', done));
}

/** Returns the durations in ms of a bare `sh -c true`, one after the other until `end`. */
async function bareTimes(end) {
  const times = [];
  let ended = false;
  const repeat = async () => {
    while (!ended) {
      const began = performance.now();
      await bareShell();
      times.push(performance.now() - began);
      await wait(5);
    }
  };
  const repeated = repeat();
  await end;
  ended = true;
  await repeated;
  return times;
}

function control({ name }, times, quiet) {
  const [p50, p99] = [at(times, 0.5), at(times, 0.99)];
  const ratio = (p99 / at(quiet, 0.99)).toFixed(1);
  return {
    name: `${name}: control, on the host, beside a bare sh`,
    beside: `${p50.toFixed(1)} ms, ${p99.toFixed(1)} ms, ${ratio} × quiet`,
  };
}

async function probed(server, other, mountPoint, end) {
  await loopDelay(server, directory);
  let ended = false;
  const times = { health: [], exec: [], worker: [], bare: [] };
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
    repeat(times.worker, () => requestDelay(mountPoint), 5),
    repeat(times.bare, bareShell, 20),
  ];
  await end;
  ended = true;
  await Promise.all(probes);
  return { ...times, loop: await loopDelay(server, directory) };
}

function shown({ health, exec, worker, bare, loop }, ratio, bareRatio) {
  const ms = (value) => `${value.toFixed(1)} ms`;
  const compared = (times) => (times === undefined ? '' : `, ${times.toFixed(1)} × quiet`);
  return {
    value: ms(at(health, 0.99)),
    beside: `${ms(at(exec, 0.5))}, ${ms(at(exec, 0.99))}${compared(ratio)}`,
    bare: `${ms(at(bare, 0.99))}${compared(bareRatio)}`,
    loop: `${ms(loop.p99)}, ${ms(loop.max)}`,
    step: ms(loop.step),
    worker: `${ms(at(worker, 0.99))}, ${ms(Math.max(...worker))}`,
  };
}

/** Loads a module of test/security. */
async function load(name) {
  const outfile = join(directory, `${name}.mjs`);
  const entryPoints = [join(ROOT, `test/security/${name}.ts`)];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'error' });
  return import(pathToFileURL(outfile).href);
}

function wait(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
