/** Rows of databases. A program that is missing leaves out its rows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { load } from './workloads.mjs';

const PYTHON = '/usr/bin/python3';
const WRITERS = 4;

/**
 * Returns the rows, and sentences that say which are left out.
 * @returns {{ rows: any[], left: string[] }}
 */
export function databases() {
  if (!existsSync(PYTHON)) return { rows: [], left: [`SQLite is left out: there is no ${PYTHON}`] };
  return { rows: [sqlite('NORMAL', 500), sqlite('FULL', 250)], left: [] };
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
