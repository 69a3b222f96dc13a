/** Measures many creations: one after the other, and eight at a time. The sandboxes stay until all are created. */
import { at, judged } from '../exec/table.mjs';

const IN_FLIGHT = 8;

export async function rows(server, bwrap, count) {
  const bare = await timed(20, bwrap);
  const first = await server.create();
  const cpu = server.cpu();
  /** @type {string[]} */
  const ids = [];
  const each = await timed(count, async () => ids.push(await server.create()));
  const cpuEach = ((server.cpu() - cpu) * 1000) / count;
  await destroyAll(server, ids.splice(0));
  const began = performance.now();
  await together(count, async () => ids.push(await server.create()));
  const rate = (count * 1000) / (performance.now() - began);
  await destroyAll(server, [first, ...ids]);
  const [mean, own] = [average(each), at(bare, 0.5)];
  return {
    title: `${count} created, all kept`,
    rows: [
      {
        name: 'one after the other, each',
        value: `${mean.toFixed(1)} ms (p50 ${at(each, 0.5).toFixed(1)}, p95 ${at(each, 0.95).toFixed(1)})`,
        beside: `${(mean / own).toFixed(2)} × bwrap (${own.toFixed(1)} ms)`,
        must: '2 × bwrap',
        verdict: judged(mean <= 2 * own, false),
      },
      {
        name: 'CPU of the server for each',
        value: `${cpuEach.toFixed(1)} ms`,
        must: '5 ms',
        verdict: judged(cpuEach <= 5, false),
      },
      {
        name: `${IN_FLIGHT} in flight`,
        value: `${rate.toFixed(0)} per second`,
        must: '60 per second',
        verdict: judged(rate >= 60, false),
      },
    ],
  };
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

async function destroyAll(server, ids) {
  await together(ids.length, () => server.destroy(ids.pop()));
}

const average = (all) => all.reduce((sum, each) => sum + each, 0) / all.length;
