/** Measures reads of one sandbox while a program of another one keeps changing many pages that it has mapped. */

import { at, median } from '../exec/table.mjs';
import { alternate, verdictOf } from '../processes/alternate.mjs';
import { RawClient } from './raw-client.mjs';

const REQUESTS = 50;
const MOST_TIMES = 2;
/** Dirties a file of 1 GiB, one page after the other, again and again. */
const DIRTY = `python3 -c "
import mmap, os
f = os.open('big', os.O_RDWR | os.O_CREAT)
os.truncate('big', 1 << 30)
m = mmap.mmap(f, 0)
os.close(f)
while True:
    for at in range(0, 1 << 30, 4096): m[at] = 1
" >/dev/null 2>&1 &`;

export async function mapped(server, _plain, rounds) {
  const id = await server.create();
  const other = await server.create();
  await server.exec(id, 'echo text > file');
  const client = await RawClient.open(server.address);
  const ways = {
    GET: () => each(() => client.call('GET', `/v1/sandboxes/${id}/files/file`)),
    ListChanges: () => each(() => client.call('GET', `/v1/sandboxes/${id}/changes`)),
  };
  const alone = await alternate(ways, rounds, 1);
  await server.exec(other, DIRTY);
  const beside = await alternate(ways, rounds, 1);
  await server.destroy(other);
  client.close();
  const rows = Object.keys(ways).map((name) => {
    const [quiet, busy] = [alone[name].flat(), beside[name].flat()];
    return {
      name: `${name} of a changed file, beside a sandbox that dirties 1 GiB of mapped pages`,
      value: `${median(busy).toFixed(2)} ms, p99 ${at(busy, 0.99).toFixed(1)}`,
      beside: `${median(quiet).toFixed(2)} ms, p99 ${at(quiet, 0.99).toFixed(1)} without it`,
      must: `${MOST_TIMES} × that`,
      verdict: verdictOf(median(busy) <= MOST_TIMES * median(quiet)),
    };
  });
  return { title: `Pages of another sandbox, ${rounds} rounds of ${REQUESTS}`, rows };
}

async function each(call) {
  const times = [];
  for (let i = 0; i < REQUESTS; i++) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return times;
}
