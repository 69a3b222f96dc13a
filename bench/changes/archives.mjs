/**
 * Compares the import of an archive of small files, into a codebase and into a sandbox, with `tar -x` onto a plain
 * directory followed by `sync -f`, and the export with `tar -c`. They alternate on the same disk, each after a `sync`.
 * Meanwhile requests are made for another sandbox. Those during tar, which does not use the server, show what the machine
 * holds them by itself.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createReadStream, mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { judged, median } from '../exec/table.mjs';
import { makeFiles } from './files.mjs';
import { Probe } from './probe.mjs';

const quick = process.argv.includes('--quick');
const FILES = quick ? 20_000 : 100_000;
const WARM_UP = 1;
/** Files per second that are enough, if tar is faster than that. */
const ENOUGH = 15_000;
/** Share of the speed of tar that is enough otherwise. */
const SHARE = 0.8;
/** While requests of another sandbox are measured. */
const DURING = {
  tar: 'tar -x and sync -f',
  pack: 'tar -c',
  codebase: 'imports into a codebase',
  fromCodebase: 'exports of a codebase',
  sandbox: 'imports into a sandbox',
  fromSandbox: 'exports of a sandbox',
};

export async function archives(server, directory, rounds) {
  const times = { tar: [], codebase: [], sandbox: [], pack: [], fromCodebase: [], fromSandbox: [] };
  const source = join(directory, 'source');
  const packed = join(directory, 'packed.tar');
  mkdirSync(source);
  execFileSync('/bin/sh', ['-c', makeFiles('tree', FILES, 100)], { cwd: source });
  execFileSync('tar', ['-C', source, '-cf', packed, '.']);
  const other = await server.create();
  await server.exec(other, 'echo x > probed');
  const probe = new Probe({ ...server.address, path: `/v1/sandboxes/${other}/stat?path=probed` });
  const measured = async (name, task) => {
    execFileSync('sync');
    return probe.during(DURING[name], async () => {
      const began = performance.now();
      await task();
      return performance.now() - began;
    });
  };
  for (let round = -WARM_UP; round < Math.min(rounds, 5); round++) {
    const took = await transfers(server, measured, { packed, to: join(directory, `to${round}`) });
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
  ];
  for (const during of Object.values(DURING)) rows.push(await probe.row(during));
  probe.stop();
  return { title: `Archives of ${FILES.toLocaleString('en')} files of 1 KiB`, rows };
}

/** Returns the milliseconds of each transfer. `to`: for tar; it is removed. */
async function transfers(server, measured, { packed, to }) {
  mkdirSync(to);
  const run = async (command, ...args) => void (await promisify(execFile)(command, args));
  const took = {};
  took.tar = await measured('tar', async () => {
    await run('tar', '-xf', packed, '-C', to);
    await run('sync', '-f', to);
  });
  took.pack = await measured('pack', () => run('sh', '-c', `tar -C ${to} -cf - . | cat > /dev/null`));
  rmSync(to, { recursive: true });
  const { id: codebase } = await server.call('POST', '/v1/codebases', { name: 'archive', owner_id: 'bench' });
  const files = `/v1/codebases/${codebase}/files?format=tar`;
  took.codebase = await measured('codebase', () => send(server, `${files}&mode=replace`, packed));
  took.fromCodebase = await measured('fromCodebase', () => receive(server, files));
  await server.call('DELETE', `/v1/codebases/${codebase}`);
  const id = await server.create();
  const workspace = `/v1/sandboxes/${id}/files?format=tar&as=owner&path=tree`;
  took.sandbox = await measured('sandbox', () => send(server, workspace, packed));
  took.fromSandbox = await measured('fromSandbox', () => receive(server, workspace));
  await server.destroy(id);
  return took;
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
