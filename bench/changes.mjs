/**
 * Measures listing and committing the changes of a sandbox, replacing its rules, forking it, archives, and large indexes. This process is the
 * client of the built server, over REST; the sandboxes use bwrap. Prints a Markdown table of medians.
 * `--quick`: fewer rounds. Arguments: names of the parts to run. Exit code 1 if a target is missed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { archives } from './changes/archives.mjs';
import { commit } from './changes/commit.mjs';
import { fork } from './changes/fork.mjs';
import { largeIndex } from './changes/large-index.mjs';
import { list } from './changes/list.mjs';
import { others } from './changes/others.mjs';
import { rules } from './changes/rules.mjs';
import { Server } from './exec/server.mjs';
import { exitCodeOf, table } from './exec/table.mjs';

const quick = process.argv.includes('--quick');
/** Each part gets a server of its own, an empty directory on the disk of the server's state, and the number of rounds. */
const PARTS = { list, commit, rules, fork, others, archives, index: largeIndex };
const ROUNDS = quick ? 3 : 9;

const named = process.argv.slice(2).filter((each) => each in PARTS);
const chosen = named.length > 0 ? named : Object.keys(PARTS);

const home = mkdtempSync(join(tmpdir(), 'paddock-bench-changes-'));
const sections = [];
try {
  for (const name of chosen) {
    const directory = mkdtempSync(join(home, `${name}-`));
    const blocks = PARTS[name].watched?.(directory);
    const server = await Server.start(directory, blocks?.env);
    try {
      sections.push(await PARTS[name](server, directory, ROUNDS, blocks));
    } finally {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    }
    process.stderr.write(`${name}: done\n`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

const where = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Linux ${release()}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}`;
process.stdout.write(`${where}\n${table(sections)}`);
process.exitCode = exitCodeOf(sections.flatMap(({ rows }) => rows));
