/**
 * Measures commands, compared with the alternatives: one bwrap for each call with the same arguments, and a bare shell
 * started by Node. This process is the client; the server is another one. Prints a table and writes docs/internals/bench-exec.svg.
 * `--quick`: fewer rounds, no chart. Arguments: names of the parts to run. Exit code 1 if a target is missed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { batches } from './exec/batches.mjs';
import { chart } from './exec/chart.mjs';
import { create } from './exec/create.mjs';
import { density } from './exec/density.mjs';
import { images } from './exec/images.mjs';
import { latency } from './exec/latency.mjs';
import { Server } from './exec/server.mjs';
import { stream } from './exec/stream.mjs';
import { exitCodeOf, table } from './exec/table.mjs';
import { throughput } from './exec/throughput.mjs';
import { bwrapPerCall } from './isolation.mjs';

const quick = process.argv.includes('--quick');
const PARTS = {
  latency: (server, bwrap) => latency(server, bwrap, quick ? 100 : 500),
  throughput: (server, bwrap) => throughput(server, bwrap, quick ? 3 : 9),
  create: (server, bwrap) => create(server, bwrap, quick ? 15 : 60),
  images: (server) => images(server, quick ? 15 : 60),
  stream: (server) => stream(server, quick ? 1 : 3),
  batches: (server) => batches(server),
  density: (server) => density(server, quick ? 100 : 1000, quick ? 100 : 1000),
};
const named = process.argv.slice(2).filter((each) => each in PARTS);
const chosen = named.length > 0 ? named : Object.keys(PARTS);

const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-'));
const sections = [];
try {
  const bwrap = await bwrapPerCall(directory, 'true');
  for (const name of chosen) {
    // Each part gets a new server, so that no part is affected by the state that another one left.
    const server = await Server.start(mkdtempSync(join(directory, `${name}-`)));
    try {
      sections.push(await PARTS[name](server, bwrap));
    } finally {
      await server.stop();
    }
    process.stderr.write(`${name}: done\n`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

const where = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`;
process.stdout.write(`${where}\n${table(sections)}`);
if (!quick && named.length === 0) {
  const docs = resolve(import.meta.dirname, '../docs/internals');
  mkdirSync(docs, { recursive: true });
  const panels = sections.flatMap((section) => section.chart ?? []);
  writeFileSync(join(docs, 'bench-exec.svg'), chart(`Running commands (${where})`, panels));
}
process.exitCode = exitCodeOf(sections.flatMap(({ rows }) => rows));
