/**
 * Compares the import of an archive of small files, into a codebase and into a sandbox, with `tar -x` onto a plain
 * directory followed by `sync -f`, and the export with `tar -c`. They alternate on the same disk, each after a `sync`.
 * Meanwhile a file of another sandbox is read through its workspace, and the longest of these reads is reported.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { at, judged, median } from '../exec/table.mjs';
import { makeFiles } from './files.mjs';

const quick = process.argv.includes('--quick');
const FILES = quick ? 20_000 : 100_000;
const WARM_UP = 1;
/** Files per second that are enough, if tar is faster than that. */
const ENOUGH = 15_000;
/** Share of the speed of tar that is enough otherwise. */
const SHARE = 0.8;
const HELD_MS = 10;
const PROBE_MS = 5;

export async function archives(server, directory, rounds) {
  const times = { tar: [], codebase: [], sandbox: [], pack: [], fromCodebase: [], fromSandbox: [] };
  const source = join(directory, 'source');
  const packed = join(directory, 'packed.tar');
  mkdirSync(source);
  execFileSync('/bin/sh', ['-c', makeFiles('tree', FILES, 100)], { cwd: source });
  execFileSync('tar', ['-C', source, '-cf', packed, '.']);
  const other = await server.create();
  await server.exec(other, 'echo x > probed');
  const probe = probing(() => server.call('GET', `/v1/sandboxes/${other}/stat?path=probed`));
  for (let round = -WARM_UP; round < Math.min(rounds, 5); round++) {
    const to = join(directory, `to${round}`);
    mkdirSync(to);
    const took = {
      tar: await measured(() => {
        execFileSync('tar', ['-xf', packed, '-C', to]);
        execFileSync('sync', ['-f', to]);
      }),
      pack: await measured(() => execFileSync('sh', ['-c', `tar -C ${to} -cf - . | cat > /dev/null`])),
    };
    rmSync(to, { recursive: true });
    const { id: codebase } = await server.call('POST', '/v1/codebases', { name: 'archive', owner_id: 'bench' });
    const files = `/v1/codebases/${codebase}/files?format=tar`;
    probe.start();
    took.codebase = await measured(() => send(server, `${files}&mode=replace`, packed));
    took.fromCodebase = await measured(() => receive(server, files));
    await server.call('DELETE', `/v1/codebases/${codebase}`);
    const id = await server.create();
    const workspace = `/v1/sandboxes/${id}/files?format=tar&as=owner&path=tree`;
    took.sandbox = await measured(() => send(server, workspace, packed));
    took.fromSandbox = await measured(() => receive(server, workspace));
    probe.stop();
    await server.destroy(id);
    if (round >= 0) for (const [name, ms] of Object.entries(took)) times[name].push(ms);
  }
  await server.destroy(other);
  const rows = [
    { name: 'tar -x, then sync -f', value: speed(median(times.tar)) },
    row('import into a codebase', times.codebase, times.tar),
    row('import into a sandbox', times.sandbox, times.tar),
    { name: 'tar -c', value: speed(median(times.pack)) },
    compared('export of a codebase', times.fromCodebase, times.pack),
    compared('export of a sandbox', times.fromSandbox, times.pack),
    probe.row(),
  ];
  return { title: `Archives of ${FILES.toLocaleString('en')} files of 1 KiB`, rows };
}

async function measured(task) {
  execFileSync('sync');
  const began = performance.now();
  await task();
  return performance.now() - began;
}

const perSecond = (ms) => (FILES / ms) * 1000;
const speed = (ms) => `${Math.round(perSecond(ms)).toLocaleString('en')} files/s`;

function compared(name, times, peer) {
  const ratio = median(times.map((ms, round) => peer[round] / ms));
  return { name, value: speed(median(times)), beside: `${ratio.toFixed(2)} × tar` };
}

function row(name, times, tar) {
  const ratio = median(times.map((ms, round) => tar[round] / ms));
  const reached = perSecond(median(times)) >= ENOUGH || ratio >= SHARE;
  return {
    ...compared(name, times, tar),
    must: `${ENOUGH.toLocaleString('en')} files/s or ${SHARE} × tar`,
    verdict: judged(reached),
  };
}

/** Calls `read` again and again while it is started. */
function probing(read) {
  const times = [];
  let running = false;
  const run = async () => {
    while (running) {
      const began = performance.now();
      await read();
      times.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  };
  return {
    start() {
      running = true;
      void run();
    },
    stop() {
      running = false;
    },
    row() {
      const slow = times.filter((ms) => ms > HELD_MS).length;
      return {
        name: `a request of another sandbox meanwhile, ${times.length} times`,
        value: `${median(times).toFixed(1)} ms, 99 % below ${at(times, 0.99).toFixed(1)} ms`,
        beside: `${slow} above ${HELD_MS} ms, the longest ${Math.max(...times).toFixed(1)} ms`,
      };
    },
  };
}

function send(server, path, file) {
  return new Promise((resolve, reject) => {
    const sending = request({ ...server.address, agent: server.agent, method: 'PUT', path }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(undefined);
        else reject(new Error(`import: ${response.statusCode}`));
      });
    });
    createReadStream(file, { highWaterMark: 1 << 20 }).pipe(sending.on('error', reject));
  });
}

function receive(server, path) {
  return new Promise((resolve, reject) => {
    const receiving = request({ ...server.address, agent: server.agent, path }, (response) => {
      response.on('error', reject).on('end', resolve).resume();
    });
    receiving.on('error', reject).end();
  });
}
