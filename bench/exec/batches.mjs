/** Measures stopping, starting and destroying a hundred sandboxes with concurrent requests. */
import { judged } from './table.mjs';

const COUNT = 100;

export async function batches(server) {
  const ids = [];
  while (ids.length < COUNT) ids.push(...(await Promise.all(Array.from({ length: 10 }, () => server.create()))));
  const steps = {
    stop: (id) => server.call('POST', `/v1/sandboxes/${id}/stop`, {}),
    start: (id) => server.call('POST', `/v1/sandboxes/${id}/start`, {}),
    destroy: (id) => server.destroy(id),
  };
  const rows = [];
  for (const [name, step] of Object.entries(steps)) {
    const began = performance.now();
    const results = await Promise.allSettled(ids.map(step));
    const seconds = (performance.now() - began) / 1000;
    const all = results.every(({ status }) => status === 'fulfilled');
    rows.push({
      name,
      value: `${seconds.toFixed(2)} s`,
      beside: `${results.filter(({ status }) => status === 'fulfilled').length} succeeded`,
      must: '3 s, all',
      aim: '1 s',
      verdict: judged(all && seconds <= 3, all && seconds <= 1),
    });
  }
  return { title: `${COUNT} sandboxes at once`, rows };
}
