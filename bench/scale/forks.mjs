/** Measures forks of a sandbox with changes, one by one and a hundred at once. */
import { setTimeout as delay } from 'node:timers/promises';
import { at, judged } from '../exec/table.mjs';

const PAUSE_MS = 60;
const AT_ONCE = 100;

export async function forks(server, rounds) {
  const parent = await server.create();
  await server.exec(parent, 'for n in $(seq 100); do echo $n >file$n; done');
  /** @type {Record<'fork' | 'exec' | 'parent', number[]>} */
  const times = { fork: [], exec: [], parent: [] };
  for (let round = 0; round < rounds; round++) {
    await delay(PAUSE_MS);
    const began = performance.now();
    const [id] = await fork(server, parent, 1);
    const forked = performance.now();
    await server.exec(id);
    const answered = performance.now();
    await server.exec(parent);
    times.fork.push(forked - began);
    times.exec.push(answered - forked);
    times.parent.push(performance.now() - answered);
    await server.destroy(id);
  }
  const began = performance.now();
  const ids = await fork(server, parent, AT_ONCE);
  const seconds = (performance.now() - began) / 1000;
  await Promise.all([...ids, parent].map((id) => server.destroy(id)));
  const one = at(times.fork, 0.5);
  return {
    title: `Forks of a sandbox with 100 changed files, ${rounds} times`,
    rows: [
      { name: 'fork, p50', value: `${one.toFixed(1)} ms`, must: '5 ms', verdict: judged(one <= 5, false) },
      {
        name: 'first Exec in it, p50',
        value: `${at(times.exec, 0.5).toFixed(1)} ms`,
        beside: `${at(times.parent, 0.5).toFixed(1)} ms in its parent`,
      },
      {
        name: `${AT_ONCE} forks at once`,
        value: `${seconds.toFixed(2)} s`,
        must: '0.6 s',
        verdict: judged(seconds <= 0.6, false),
      },
    ],
  };
}

async function fork(server, id, count) {
  const { results } = await server.call('POST', `/v1/sandboxes/${id}/fork`, { count });
  return results.map(({ sandbox, error }) => sandbox?.id ?? fail(error));
}

function fail(error) {
  throw new Error(`fork: ${error?.message}`);
}
