/** Measures the creation of sandboxes one by one, on a codebase with files, compared with one bare bwrap. They alternate. */
import { setTimeout as delay } from 'node:timers/promises';
import { at, judged } from '../exec/table.mjs';

const WARM_UP = 5;
/** Milliseconds between rounds: what a server prepares while it is idle is prepared then. */
const PAUSE_MS = 60;

/** `servers`: by a description. */
export async function creation(servers, bwrap, rounds) {
  /** @type {Record<string, Record<'create' | 'both' | 'destroy', number[]>>} */
  const times = Object.fromEntries(Object.keys(servers).map((name) => [name, { create: [], both: [], destroy: [] }]));
  /** @type {number[]} */
  const own = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, server] of Object.entries(servers)) {
      await delay(PAUSE_MS);
      const began = performance.now();
      const id = await server.create();
      const created = performance.now();
      await server.exec(id);
      const answered = performance.now();
      await server.destroy(id);
      if (round < 0) continue;
      times[name].create.push(created - began);
      times[name].both.push(answered - began);
      times[name].destroy.push(performance.now() - answered);
    }
    await delay(PAUSE_MS);
    const began = performance.now();
    await bwrap();
    if (round >= 0) own.push(performance.now() - began);
  }
  const bare = at(own, 0.5);
  const rows = Object.entries(times).flatMap(([name, each]) => rowsOf(name, each, bare));
  return {
    title: `Creation one by one, ${rounds} times`,
    rows: [...rows, { name: 'one bwrap, p50', value: `${bare.toFixed(1)} ms` }],
  };
}

function rowsOf(name, { create, both, destroy }, bare) {
  const p50 = at(both, 0.5);
  const must = name.includes('without') ? 2 : 1;
  return [
    row(`${name}: create, p50`, at(create, 0.5), must === 1 ? 4 : undefined),
    {
      name: `${name}: create and first Exec, p50`,
      value: `${p50.toFixed(1)} ms (p95 ${at(both, 0.95).toFixed(1)})`,
      beside: `${(p50 / bare).toFixed(2)} × bwrap`,
      must: `${must} × bwrap`,
      aim: must === 1 ? '0.7 × bwrap' : '',
      verdict: judged(p50 <= must * bare, must === 1 && p50 <= 0.7 * bare),
    },
    row(`${name}: destroy, p50`, at(destroy, 0.5), 8),
  ];
}

function row(name, value, most) {
  const shown = { name, value: `${value.toFixed(1)} ms` };
  return most === undefined ? shown : { ...shown, must: `${most} ms`, verdict: judged(value <= most, false) };
}
