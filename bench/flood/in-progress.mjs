/** Measures /health and the server's memory while requests are in progress that are large, compressed or never complete. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { at, judged } from '../exec/table.mjs';
import { ATTACKER, ATTACKS } from './attacker.mjs';

const MIB = 2 ** 20;
const PHASE_MS = 8000;
const PAUSE_MS = 5;
const MOST_MS = 50;
const MOST_GROWTH = 300 * MIB;
/** In which memory is given back. */
const BACK_MS = 15_000;
const BACK = 120 * MIB;
export const IN_PROGRESS_COLUMNS = {
  name: '',
  value: '/health: p50, p99, maximum',
  quiet: 'without it',
  growth: 'memory grows by, and after 15 s',
  must: 'must reach',
  verdict: 'reached',
};

/** Returns a row for each attack. The attackers have a lower priority than the server. */
export async function inProgressRows({ pid, ...target }) {
  const rows = [];
  await phase(target.http, pid);
  for (const attack of Object.keys(ATTACKS)) {
    const quiet = await phase(target.http, pid);
    const before = rss(pid);
    const args = ['-n', '10', process.execPath, ATTACKER, JSON.stringify({ ...target, attack })];
    const attacker = spawn('nice', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const closed = once(attacker, 'close');
    const during = await phase(target.http, pid);
    if (!attacker.kill('SIGKILL')) throw new Error(`the attacker has ended: ${attack}`);
    await closed;
    const back = await comesBack(pid, before);
    const growth = during.most - before;
    rows.push({
      name: attack,
      value: shown(during.times),
      quiet: shown(quiet.times),
      growth: `${Math.round(growth / MIB)} MiB, ${Math.round(back / MIB)} MiB`,
      must: `p99 ${MOST_MS} ms, ${MOST_GROWTH / MIB} MiB, ${BACK / MIB} MiB`,
      verdict: judged(at(during.times, 0.99) <= MOST_MS && growth <= MOST_GROWTH && back <= BACK),
    });
    process.stderr.write(`${attack}: done\n`);
  }
  return rows;
}

/**
 * The durations in ms of requests to /health, without the time in which the main threads of the server and of this process waited
 * for a core, and the most memory that the server had.
 */
async function phase(http, pid) {
  const times = [];
  let most = 0;
  for (const end = performance.now() + PHASE_MS; performance.now() < end; ) {
    const [began, waited] = [performance.now(), waitedMs(pid)];
    const outgoing = request({ ...http, path: '/health', agent: false }).end();
    const [answer] = await once(outgoing, 'response');
    await once(answer.resume(), 'end');
    times.push(Math.max(0, performance.now() - began - (waitedMs(pid) - waited)));
    if (answer.statusCode !== 200) throw new Error(`/health: ${answer.statusCode}`);
    most = Math.max(most, rss(pid));
    await delay(PAUSE_MS);
  }
  return { times, most };
}

async function comesBack(pid, before) {
  for (const end = performance.now() + BACK_MS; performance.now() < end; ) {
    if (rss(pid) - before < BACK) break;
    await delay(100);
  }
  return rss(pid) - before;
}

/** Milliseconds in which the main threads of both sides were ready to run, and others did. */
function waitedMs(pid) {
  const waited = (of) => Number(readFileSync(`/proc/${of}/task/${of}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  return waited(pid) + waited(process.pid);
}

function rss(pid) {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

function shown(times) {
  return `${[0.5, 0.99, 1].map((share) => `${at(times, share).toFixed(1)} ms`).join(', ')} (of ${times.length})`;
}
