/** Rows of databases: SQLite by python3, and PostgreSQL where it is installed. A program that is missing leaves out its rows. */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { load } from './workloads.mjs';

const PYTHON = '/usr/bin/python3';
const POSTGRESQL = '/usr/lib/postgresql';
const WRITERS = 4;
/** initdb needs a user with a name, other than root. */
const NOBODY = 65_534;
const TRANSACTIONS = 250;

/**
 * Returns the rows, and sentences that say which are left out. `home`: a directory for clusters and sockets, open to all.
 * @returns {{ rows: any[], left: string[] }}
 */
export function databases(home) {
  const rows = [];
  const left = [];
  if (existsSync(PYTHON)) rows.push(sqlite('NORMAL', 500), sqlite('FULL', 250));
  else left.push(`SQLite is left out: there is no ${PYTHON}`);
  const version = existsSync(POSTGRESQL) ? readdirSync(POSTGRESQL).sort().at(-1) : undefined;
  if (version === undefined) left.push('pgbench is left out: PostgreSQL is not installed');
  else rows.push(pgbench(join(POSTGRESQL, version, 'bin'), home));
  return { rows, left };
}

function sqlite(synchronous, commits) {
  return {
    label: `SQLite in WAL mode, synchronous=${synchronous}, ${WRITERS} writers of ${commits} commits`,
    unit: 's',
    calls: WRITERS * commits,
    run: (dir) => load(dir, 'command', PYTHON, join(import.meta.dirname, 'wal.py'), commits, synchronous),
    target: { time: [1.7, 1.3] },
  };
}

/** Each directory has a copy of one new cluster. Its server runs during the workload only. */
function pgbench(programs, home) {
  let cluster;
  const shell = (dir, text) => load(dir, 'command', '/bin/sh', '-ec', text, 'sh', programs, home);
  const withServer = (text) =>
    `"$1/pg_ctl" -D pg -w -t 120 -l pg.log -o "-k $2 -h ''" start >/dev/null; ${text}; "$1/pg_ctl" -D pg -w -m fast stop >/dev/null`;
  const run = (options) => withServer(`"$1/pgbench" -h "$2" -U bench ${options} postgres >/dev/null 2>&1`);
  return {
    label: `pgbench, ${WRITERS} clients of ${TRANSACTIONS} transactions, with start and stop of the server`,
    unit: 's',
    calls: WRITERS * TRANSACTIONS,
    async prepare(dir) {
      cluster ??= makeCluster(programs, home);
      if (!existsSync(join(dir, 'pg'))) await shell(dir, `cp -r ${cluster} pg; chmod 700 pg; ${run('-i -q -s 2')}`);
    },
    run: (dir) => shell(dir, run(`-c ${WRITERS} -j 2 -t ${TRANSACTIONS}`)),
    target: { speed: [0.7, 1] },
  };
}

function makeCluster(programs, home) {
  const directory = mkdtempSync(join(home, 'cluster-'));
  chownSync(directory, NOBODY, NOBODY);
  const cluster = join(directory, 'pg');
  execFileSync(join(programs, 'initdb'), ['-D', cluster, '-A', 'trust', '-U', 'bench'], {
    cwd: directory,
    uid: NOBODY,
    gid: NOBODY,
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  execFileSync('chmod', ['-R', 'a+rX', directory]);
  return cluster;
}
