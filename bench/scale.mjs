/**
 * Measures the creation of sandboxes, compared with one bare bwrap in the same run, with and without ready sandboxes, and
 * with many sandboxes on record, and destroys of forks. Prints a table. `--quick`: fewer rounds. Arguments: names of the parts to run. Exit code 1
 * if a target is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from './exec/server.mjs';
import { exitCodeOf, table } from './exec/table.mjs';
import { bwrapPerCall } from './isolation.mjs';
import { compaction } from './scale/compaction.mjs';
import { creation } from './scale/creation.mjs';
import { destroys } from './scale/destroys.mjs';
import { forks } from './scale/forks.mjs';
import { records } from './scale/records.mjs';
import { restart } from './scale/restart.mjs';
import { rows } from './scale/rows.mjs';

const FILES = 2000;
const quick = process.argv.includes('--quick');
const PARTS = {
  creation: async (bwrap) => {
    const servers = { 'with ready sandboxes': await start({}), 'without ready sandboxes': await start({ ready: 0 }) };
    return creation(servers, bwrap, quick ? 20 : 100);
  },
  rows: async (bwrap) => rows(await start({}), bwrap, quick ? 50 : 200),
  compaction: async () => compaction(directory, quick ? 20_000 : 100_000),
  destroys: async () => destroys(directory, quick ? [31, 2000] : [31, 10_000]),
  forks: async () => forks(await start({}), quick ? 15 : 60),
  restart: async () =>
    restart(directory, quick ? { sandboxes: 10_000, running: 100 } : { sandboxes: 100_000, running: 1000 }),
  records: async () =>
    records(
      directory,
      quick ? { sizes: [100, 10_000], creates: 200 } : { sizes: [100, 1000, 10_000, 100_000], creates: 500 },
    ),
};
const named = process.argv.slice(2).filter((each) => each in PARTS);
const chosen = named.length > 0 ? named : Object.keys(PARTS);

const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-'));
/** @type {Server[]} */
const running = [];
const sections = [];
try {
  const bwrap = await bwrapPerCall(directory, 'true');
  for (const name of chosen) {
    sections.push(await PARTS[name](bwrap));
    for (const server of running.splice(0)) await server.stop();
    process.stderr.write(`${name}: done\n`);
  }
} finally {
  for (const server of running) await server.stop();
  rmSync(directory, { recursive: true, force: true });
}
const where = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`;
process.stdout.write(`${where}\n${table(sections)}`);
process.exitCode = exitCodeOf(sections.flatMap(({ rows }) => rows));

/** A server with a codebase of many small files. */
async function start(runtime) {
  const server = await Server.start(mkdtempSync(join(directory, 'server-')), {}, runtime);
  running.push(server);
  let next = 0;
  const upload = async () => {
    for (let file = next++; file < FILES; file = next++) {
      await server.upload(`d${file % 40}/f${file}`, `${'x'.repeat(1024)}\n`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, upload));
  return server;
}
