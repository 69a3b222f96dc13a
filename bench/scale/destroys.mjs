/** Measures the destroy of one fork of a sandbox that has many of them, each with a delta of its own. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { emptyJournal } from '../delta-journal.mjs';
import { Server } from '../exec/server.mjs';
import { at, judged } from '../exec/table.mjs';
import { idOf, recordState } from './recorded-state.mjs';

const FIRST_UID = 2_800_000;
const ROUNDS = 30;
/** Without work of the server in the background, which a start and a destroy leave. */
const IDLE_MS = 2000;
const IDLE_SECONDS = 0.03;
/** The layer that all forks extend; its sandbox is gone. */
const LAYER = 'sb_1k0000000000000000.0';

/**
 * @param {string} directory for the states
 * @param {readonly number[]} sizes numbers of forks
 */
export async function destroys(directory, sizes) {
  const found = [];
  for (const forks of sizes) found.push({ forks, ...(await withForks(directory, forks)) });
  const [few] = found;
  return {
    title: `Destroys of ${ROUNDS} forks of one sandbox, one after the other`,
    rows: found.map(({ forks, p50, cpu }) => ({
      name: `one of ${forks.toLocaleString('en')}, p50`,
      value: `${p50.toFixed(1)} ms`,
      beside: `${cpu.toFixed(1)} ms of CPU of the server, ${(cpu / few.cpu).toFixed(1)} × that of few`,
      must: '3 ×',
      verdict: judged(cpu <= 3 * few.cpu, false),
    })),
  };
}

/** Returns when the server has nothing left to do. */
async function idle(server) {
  for (let before = -1, now = server.cpu(); now - before > IDLE_SECONDS; ) {
    await wait(IDLE_MS);
    before = now;
    now = server.cpu();
  }
}

async function withForks(directory, forks) {
  const home = mkdtempSync(join(directory, 'forks-'));
  const state = join(home, 'state');
  const more = { runtime: 'RUNTIME_BWRAP', origin: LAYER };
  recordState(state, { sandboxes: forks, running: 0, codebases: 1, firstUid: FIRST_UID }, more);
  mkdirSync(join(state, 'mounts/layers', LAYER), { recursive: true });
  writeFileSync(join(state, 'mounts/layers', LAYER, 'index'), emptyJournal(LAYER));
  for (let index = 0; index < forks; index++) {
    const id = idOf('sb', index);
    mkdirSync(join(state, 'mounts/deltas', id), { recursive: true });
    writeFileSync(join(state, 'mounts/deltas', id, 'journal'), emptyJournal(`${id}.0`, [LAYER]));
  }
  const server = await Server.start(home, {}, { uid_range: { start: FIRST_UID, size: 200_000 } });
  try {
    await idle(server);
    const before = server.cpu();
    /** @type {number[]} */
    const times = [];
    for (let index = 0; index < Math.min(ROUNDS, forks - 1); index++) {
      const began = performance.now();
      await server.destroy(idOf('sb', index));
      times.push(performance.now() - began);
    }
    await idle(server);
    return { p50: at(times, 0.5), cpu: ((server.cpu() - before) * 1000) / times.length };
  } finally {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
