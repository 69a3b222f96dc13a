/** Measures Exec of `true` by one client, one call after the other, compared with the alternatives. They alternate by call. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { at, judged } from './table.mjs';

const WARM_UP = 30;
const MUST = { 0.5: 0.4, 0.99: 0.6 };

export async function latency(server, bwrap, rounds) {
  const id = await server.create();
  const ways = {
    'Exec over REST': () => server.exec(id),
    'Exec over gRPC': () => server.execOverGrpc(id),
    'bwrap per call': bwrap,
    'sh -c true from Node': bare,
  };
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const began = performance.now();
      await way();
      if (round >= 0) times[name].push(performance.now() - began);
    }
  }
  await server.destroy(id);
  const rows = Object.keys(times).flatMap((name) => [0.5, 0.99].map((share) => row(times, name, share)));
  const bars = Object.entries(times).map(([label, all]) => ({ label, value: at(all, 0.5), mark: at(all, 0.99) }));
  const chart = { title: 'Exec of true, one client: p50 (tick: p99)', unit: 'ms', bars };
  return { title: `Sequential calls of true, ${rounds} each`, rows, chart };
}

function row(times, name, share) {
  const value = at(times[name], share);
  const shown = { name: `${name}, p${share * 100}`, value: `${value.toFixed(2)} ms` };
  if (!name.startsWith('Exec')) return shown;
  const own = at(times['bwrap per call'], share);
  const shell = at(times['sh -c true from Node'], share);
  return {
    ...shown,
    beside: `${(value / own).toFixed(2)} × bwrap, ${(value / shell).toFixed(2)} × sh`,
    must: `${MUST[share]} × bwrap`,
    aim: '1 × sh',
    verdict: judged(value <= MUST[share] * own, value <= shell),
  };
}

async function bare() {
  const child = spawn('/bin/sh', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`sh: ${code}`);
}
