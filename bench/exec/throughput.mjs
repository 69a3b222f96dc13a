/** Measures eight calls in flight: in one sandbox, in eight, and with one bwrap for each call. They alternate by batch. */
import { judged, median } from './table.mjs';

const IN_FLIGHT = 8;
const BATCH = 160;

export async function throughput(server, bwrap, rounds) {
  const ids = await Promise.all(Array.from({ length: IN_FLIGHT }, () => server.create()));
  const ways = {
    'REST, one sandbox': () => server.exec(ids[0]),
    'REST, eight sandboxes': (lane) => server.exec(ids[lane]),
    'gRPC, one sandbox': () => server.execOverGrpc(ids[0]),
    'gRPC, eight sandboxes': (lane) => server.execOverGrpc(ids[lane]),
    'bwrap per call': bwrap,
  };
  /** @type {Record<string, number[]>} */
  const rates = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const rate = await inFlight(way);
      if (round >= 0) rates[name].push(rate);
    }
  }
  await Promise.all(ids.map((id) => server.destroy(id)));
  const own = median(rates['bwrap per call']);
  const rows = Object.entries(rates).map(([name, all]) => row(name, median(all), own));
  const bars = Object.entries(rates).map(([label, all]) => ({ label, value: median(all) }));
  const chart = { title: `Exec of true, ${IN_FLIGHT} in flight`, unit: 'calls/s', bars };
  return { title: `${IN_FLIGHT} calls of true in flight`, rows, chart };
}

function row(name, value, own) {
  const shown = { name, value: `${value.toFixed(0)} calls/s` };
  if (name === 'bwrap per call') return shown;
  const ratio = value / own;
  const verdict = judged(ratio >= 6, ratio >= 10);
  return { ...shown, beside: `${ratio.toFixed(1)} × bwrap`, must: '6 × bwrap', aim: '10 × bwrap', verdict };
}

async function inFlight(way) {
  let left = BATCH;
  const lane = async (_, index) => {
    while (left-- > 0) await way(index);
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return (BATCH / (performance.now() - began)) * 1000;
}
