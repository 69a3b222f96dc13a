/** Measures what each idle process of one sandbox costs the server: its memory, and its CPU time while nothing happens. */
import { setTimeout as delay } from 'node:timers/promises';
import { verdictOf } from './alternate.mjs';

const MOST_KB = 200;
const WARM_UP = 20;
/** After the last start, until memory that only a busy server needs is released. */
const SETTLE_MS = 15_000;
const WATCHED_MS = 10_000;

export async function idle(server, count) {
  const id = await server.create();
  const processes = `/v1/sandboxes/${id}/processes`;
  const started = async (number) => {
    const ids = [];
    for (let index = 0; index < number; index++) {
      ids.push((await server.call('POST', processes, { command: 'echo ready; exec sleep 100000' })).process_id);
    }
    await delay(SETTLE_MS);
    return ids;
  };
  // Code and buffers that the first processes need.
  for (const process_id of await started(WARM_UP)) await server.call('DELETE', `${processes}/${process_id}`);
  await delay(SETTLE_MS);
  const before = server.rss();
  const ids = await started(count);
  const each = (server.rss() - before) / count / 1000;
  const busy = server.cpu();
  await delay(WATCHED_MS);
  const cpu = server.cpu() - busy;
  const { processes: running } = await server.call('GET', `${processes}?running=true&page_size=1000`);
  if (running.length !== ids.length) throw new Error(`${running.length} of ${ids.length} processes run`);
  await server.destroy(id);
  const rows = [
    {
      name: `Memory of the server (RSS) for each of ${count} idle processes`,
      value: `${each.toFixed(0)} KB`,
      must: `${MOST_KB} KB`,
      verdict: verdictOf(each <= MOST_KB),
    },
    { name: `CPU time of the server in ${WATCHED_MS / 1000} s with them`, value: `${cpu.toFixed(2)} s` },
  ];
  return { title: 'Idle processes of one sandbox', rows };
}
