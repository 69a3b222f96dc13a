/** Measures how long it takes until all sandboxes that ran are back: after a start, and after a server that was killed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Server } from '../exec/server.mjs';
import { judged } from '../exec/table.mjs';
import { recordState } from './recorded-state.mjs';
import { untilRunning } from './records.mjs';

const FIRST_UID = 2_800_000;
const UIDS = { start: FIRST_UID, size: 200_000 };
const MOST_MS = 30_000;

/**
 * @param {string} directory for the state
 * @param {{ sandboxes: number, running: number }} counts
 */
export async function restart(directory, { sandboxes, running }) {
  const home = mkdtempSync(join(directory, 'restart-'));
  const codebases = Math.max(1, Math.floor(sandboxes / 5));
  recordState(
    join(home, 'state'),
    { sandboxes, running, codebases, firstUid: FIRST_UID },
    { runtime: 'RUNTIME_BWRAP' },
  );
  const rows = [];
  try {
    for (const after of ['a stop', 'kill -9']) {
      const began = performance.now();
      const server = await Server.start(home, {}, { uid_range: UIDS });
      const answered = performance.now() - began;
      const up = await untilRunning(server, running, began);
      const name = `after ${after}: answers / all running`;
      const value = `${(answered / 1000).toFixed(1)} / ${(up / 1000).toFixed(1)} s`;
      const beside = `${server.cpu().toFixed(1)} s of CPU of the server, ${(server.rss() / 2 ** 20).toFixed(0)} MiB`;
      rows.push({ name, value, beside, must: '5 / 30 s', verdict: judged(answered <= 5000 && up <= MOST_MS, false) });
      if (after === 'a stop') await server.kill();
      else await server.stop();
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const counts = `${running.toLocaleString('en')} running sandboxes, ${sandboxes.toLocaleString('en')} on record`;
  return { title: `A restart with ${counts}`, rows };
}
