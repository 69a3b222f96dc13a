/** Measures ListChanges of many changed files: all pages, one after the other, as a client requests them. */
import { judged, median } from '../exec/table.mjs';
import { FILES, makeFiles } from './files.mjs';

const MUST_MS = 200;
const AIM_MS = 100;
const WARM_UP = 2;

export async function list(server, _directory, rounds) {
  const id = await server.create();
  await server.exec(id, makeFiles('flat', FILES, FILES));
  const flat = await measured(server, id, rounds, FILES + 1);
  await server.exec(id, `rm -rf flat; ${makeFiles('deep', FILES, 20)}`);
  const deep = await measured(server, id, rounds, FILES + 1 + FILES / 20);
  const rows = [row('10,000 new files in one directory', flat), row('10,000 new files in 500 directories', deep)];
  return { title: `ListChanges, pages of 1,000, ${rounds} times`, rows };
}

async function measured(server, id, rounds, expected) {
  const times = [];
  for (let round = -WARM_UP; round < rounds; round++) {
    const began = performance.now();
    let count = 0;
    let token = '';
    do {
      const query = `page_size=1000&page_token=${encodeURIComponent(token)}`;
      const { changes, next_page_token } = await server.call('GET', `/v1/sandboxes/${id}/changes?${query}`);
      count += changes.length;
      token = next_page_token;
    } while (token !== '');
    if (count !== expected) throw new Error(`${count} changes were listed, expected ${expected}`);
    if (round >= 0) times.push(performance.now() - began);
  }
  return median(times);
}

function row(name, ms) {
  return {
    name,
    value: `${ms.toFixed(0)} ms`,
    must: `${MUST_MS} ms`,
    aim: `${AIM_MS} ms`,
    verdict: judged(ms <= MUST_MS, ms <= AIM_MS),
  };
}
