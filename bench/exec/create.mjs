/** Measures CreateSandbox plus a first Exec, compared with one bwrap. Destroying the sandbox is not included. */
import { at, judged } from './table.mjs';

const WARM_UP = 3;

export async function create(server, bwrap, rounds) {
  /** @type {Record<'created' | 'own', number[]>} */
  const { created, own } = { created: [], own: [] };
  for (let round = -WARM_UP; round < rounds; round++) {
    let began = performance.now();
    const id = await server.create();
    await server.exec(id);
    const both = performance.now() - began;
    await server.destroy(id);
    began = performance.now();
    await bwrap();
    if (round < 0) continue;
    created.push(both);
    own.push(performance.now() - began);
  }
  const ratio = at(created, 0.5) / at(own, 0.5);
  const rows = [
    {
      name: 'CreateSandbox and first Exec, p50',
      value: `${at(created, 0.5).toFixed(1)} ms`,
      beside: `${ratio.toFixed(2)} × bwrap`,
      must: '3 × bwrap',
      aim: '1.5 × bwrap',
      verdict: judged(ratio <= 3, ratio <= 1.5),
    },
    { name: 'one bwrap, p50', value: `${at(own, 0.5).toFixed(1)} ms` },
  ];
  const bars = [
    { label: 'CreateSandbox and Exec', value: at(created, 0.5) },
    { label: 'one bwrap', value: at(own, 0.5) },
  ];
  const chart = { title: 'CreateSandbox and first Exec, p50', unit: 'ms', bars };
  return { title: `Time to the first answer of a new sandbox, ${rounds} times`, rows, chart };
}
