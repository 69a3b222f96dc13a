/**
 * Measures the file API of sandboxes beside a plain node:http server that reads and writes plain files, alternated in one
 * run. This process is the client; both servers are processes of their own. Prints Markdown tables of medians. `--quick`:
 * fewer rounds. Arguments: names of the parts to run. Exit code 1 if a target is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from './exec/server.mjs';
import { exitCodeOf, table } from './exec/table.mjs';
import { formats } from './files/formats.mjs';
import { large } from './files/large.mjs';
import { mapped } from './files/mapped.mjs';
import { memory } from './files/memory.mjs';
import { PlainServer } from './files/plain-server.mjs';
import { small } from './files/small.mjs';

const quick = process.argv.includes('--quick');
const PARTS = { small, large, mapped, memory, formats };
const COLUMNS = {
  name: '',
  value: 'measured',
  beside: 'node:http or http2, and a plain file',
  must: 'must reach',
  verdict: '',
};
const ROUNDS = quick ? 3 : 9;

const named = process.argv.slice(2).filter((each) => each in PARTS);
const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-files-'));
const load = loadavg()[0]?.toFixed(1);
const sections = [];
const plain = await PlainServer.start(mkdtempSync(join(directory, 'plain-')));
try {
  const server = await Server.start(mkdtempSync(join(directory, 'server-')));
  try {
    for (const name of named.length > 0 ? named : Object.keys(PARTS)) {
      sections.push(await PARTS[name](server, plain, ROUNDS));
      process.stderr.write(`${name}: done\n`);
    }
  } finally {
    await server.stop();
  }
} finally {
  plain.stop();
  rmSync(directory, { recursive: true, force: true });
}
const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}`;
process.stdout.write(
  `${machine}, load ${load} before and ${loadavg()[0]?.toFixed(1)} after\n${table(sections, COLUMNS)}`,
);
process.exitCode = exitCodeOf(sections.flatMap(({ rows }) => rows));
