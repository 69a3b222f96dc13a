/**
 * Measures processes, sessions and terminals, compared with Exec and ExecStream in the same run. Both alternate, and the
 * medians count. This process is the client; the server is another one. `--quick`: fewer rounds. Arguments: names of the
 * parts to run. Exit code 1 if a target is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from './exec/server.mjs';
import { exitCodeOf, table } from './exec/table.mjs';
import { idle } from './processes/idle.mjs';
import { input } from './processes/input.mjs';
import { output } from './processes/output.mjs';
import { sessions } from './processes/sessions.mjs';
import { start } from './processes/start.mjs';
import { terminal } from './processes/terminal.mjs';

const quick = process.argv.includes('--quick');
const PARTS = {
  start: (server) => start(server, quick ? 50 : 300),
  sessions: (server) => sessions(server, quick ? 50 : 500),
  input: (server) => input(server, quick ? 1 : 5),
  output: (server) => output(server, quick ? 1 : 3),
  idle: (server) => idle(server, 200),
  terminal: (server) => terminal(server),
};
const COLUMNS = { name: '', value: 'measured', beside: 'compared', must: 'must reach', verdict: '' };
const named = process.argv.slice(2).filter((each) => each in PARTS);

const directory = mkdtempSync(join(tmpdir(), 'paddock-bench-'));
const sections = [];
const load = loadavg()[0]?.toFixed(1);
try {
  for (const name of named.length > 0 ? named : Object.keys(PARTS)) {
    // Each part gets a new server, so that no part is affected by the state that another one left.
    const server = await Server.start(mkdtempSync(join(directory, `${name}-`)));
    try {
      sections.push(await PARTS[name](server));
    } finally {
      await server.stop();
    }
    process.stderr.write(`${name}: done\n`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.version}`;
process.stdout.write(
  `${machine}, load ${load} before and ${loadavg()[0]?.toFixed(1)} after\n${table(sections, COLUMNS)}`,
);
process.exitCode = exitCodeOf(sections.flatMap(({ rows }) => rows));
