/** Measures creations, pages, the start and memory with many sandboxes on record, on the mock runtime. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Server } from '../exec/server.mjs';
import { at, judged } from '../exec/table.mjs';
import { recordState } from './recorded-state.mjs';

const IN_FLIGHT = 32;
const FIRST_UID = 2_800_000;
const PRELOAD = join(import.meta.dirname, 'delay.cjs');
const UIDS = { start: FIRST_UID, size: 200_000 };

/**
 * @param {string} directory for the states
 * @param {{ sizes: readonly number[], creates: number }} options
 */
export async function records(directory, { sizes, creates }) {
  const rows = [];
  /** @type {number | undefined} */
  let few;
  let empty = 0;
  for (const size of [0, ...sizes]) {
    const found = await withRecords(directory, size, creates);
    if (size === 0) {
      empty = found.rss;
      continue;
    }
    few ??= found.p50;
    rows.push(...rowsOf(size, found, few, empty));
  }
  return { title: `Creations with sandboxes on record (mock runtime, ${creates} each)`, rows };
}

async function withRecords(directory, size, creates) {
  const home = mkdtempSync(join(directory, 'records-'));
  const codebases = Math.max(1, Math.floor(size / 5));
  const running = Math.floor(size / 100);
  recordState(join(home, 'state'), { sandboxes: size, running, codebases, firstUid: FIRST_UID });
  const delays = join(home, 'delays');
  const env = { NODE_OPTIONS: `--require ${PRELOAD}`, EVENT_LOOP_DELAYS: delays };
  const began = performance.now();
  const server = await Server.start(home, env, { type: 'mock', uid_range: UIDS });
  const started = performance.now() - began;
  try {
    const up = await untilRunning(server, running, began);
    await wait(1000);
    const rss = server.rss();
    await timed(100, () => server.create());
    await delayOf(server, delays);
    const each = await timed(creates, () => server.create());
    const delay = await delayOf(server, delays);
    const busy = performance.now();
    await together(creates * 4, () => server.create());
    const rate = (creates * 4000) / (performance.now() - busy);
    const delayBusy = await delayOf(server, delays);
    const pages = await timed(100, () => server.call('GET', '/v1/sandboxes?page_size=100'));
    const filtered = await timed(100, () => server.call('GET', '/v1/sandboxes?page_size=100&owner_id=bench'));
    return {
      p50: at(each, 0.5),
      p99: at(each, 0.99),
      delay,
      delayBusy,
      rate,
      page: at(pages, 0.5),
      filtered: at(filtered, 0.5),
      started,
      up,
      rss,
    };
  } finally {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the milliseconds until as many sandboxes run. */
export async function untilRunning(server, count, began) {
  for (;;) {
    let running = 0;
    let token = '';
    do {
      const page = await server.call('GET', `/v1/sandboxes?page_size=1000&status=SANDBOX_RUNNING&page_token=${token}`);
      running += page.sandboxes.length;
      token = page.next_page_token;
    } while (token !== '');
    if (running >= count) return performance.now() - began;
    await wait(50);
  }
}

async function delayOf(server, path) {
  rmSync(path, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  while (!existsSync(path)) await wait(5);
  return JSON.parse(readFileSync(path, 'utf8'));
}

async function timed(count, act) {
  const times = [];
  for (let round = 0; round < count; round++) {
    const began = performance.now();
    await act();
    times.push(performance.now() - began);
  }
  return times;
}

async function together(count, act) {
  let left = count;
  const one = async () => {
    while (left-- > 0) await act();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
}

function rowsOf(size, { p50, p99, delay, delayBusy, rate, page, filtered, started, up, rss }, few, empty) {
  const name = (what) => `${size.toLocaleString('en')} on record: ${what}`;
  const each = (rss - empty) / size;
  const ms = (value) => `${value.toFixed(1)} ms`;
  return [
    {
      name: name('create, p50 / p99'),
      value: `${p50.toFixed(2)} / ${p99.toFixed(1)} ms`,
      beside: `${(p50 / few).toFixed(2)} × that with few`,
      must: '1.3 ×',
      verdict: judged(p50 <= 1.3 * few, false),
    },
    { name: name('event loop delay, p99 / most'), value: `${delay.p99.toFixed(1)} / ${ms(delay.max)}` },
    {
      name: name(`${IN_FLIGHT} in flight`),
      value: `${rate.toFixed(0)} per second`,
      beside: `event loop delay p99 ${delayBusy.p99.toFixed(1)}, most ${ms(delayBusy.max)}`,
      must: '600 per second',
      verdict: judged(rate >= 600, false),
    },
    {
      name: name('page of 100 / of one owner'),
      value: `${page.toFixed(1)} / ${ms(filtered)}`,
      must: '5 ms',
      verdict: judged(page <= 5 && filtered <= 5, false),
    },
    {
      name: name('start: answers / all running'),
      value: `${(started / 1000).toFixed(1)} / ${(up / 1000).toFixed(1)} s`,
      must: '5 / 30 s',
      verdict: judged(started <= 5000 && up <= 30_000, false),
    },
    ...(size < 10_000
      ? []
      : [
          {
            name: name('memory of each'),
            value: `${(each / 1024).toFixed(1)} KB`,
            beside: `${(rss / 2 ** 20).toFixed(0)} MiB, ${(empty / 2 ** 20).toFixed(0)} without`,
            must: '3 KB',
            verdict: judged(each <= 3 * 1024, false),
          },
        ]),
  ];
}
