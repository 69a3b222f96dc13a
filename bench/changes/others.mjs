/**
 * Measures the upload of a file of 2 KB to a codebase with other sandboxes on it: before each change of a codebase, the
 * server examines every other sandbox for unchanged entries at the path. Every tenth of them is running; each has a
 * changed file, but none at the uploaded path.
 */
import { judged, median } from '../exec/table.mjs';

/** Compared with: the first sandboxes add a constant. */
const FEW = 10;
const COUNTS = process.argv.includes('--quick') ? [0, FEW, 100] : [0, FEW, 100, 1000];
const RUNNING_SHARE = 10;
const CONCURRENCY = 8;
const UPLOADS = 40;
const BYTES = 2048;
/** Milliseconds that each 100 other sandboxes may add to an upload with FEW of them. */
const MUST_MS = 1;

export async function others(server, _directory, rounds) {
  const uploads = UPLOADS * rounds;
  const rows = [];
  let few = 0;
  let made = 0;
  for (const count of COUNTS) {
    await createUntil(server, made, count);
    made = count;
    const times = [];
    for (let upload = -5; upload < uploads; upload++) {
      const began = performance.now();
      await server.upload('uploaded', Buffer.alloc(BYTES, `${upload}`));
      if (upload >= 0) times.push(performance.now() - began);
    }
    const ms = median(times);
    // Without any sandbox, no request goes to the file system.
    if (count === FEW) few = ms;
    const added = ((ms - few) / (count - FEW)) * 100;
    rows.push({
      name: `upload of 2 KB, ${count.toLocaleString('en')} other sandboxes`,
      value: `${ms.toFixed(2)} ms`,
      ...(count > FEW && {
        beside: `${added.toFixed(2)} ms for each 100`,
        must: `${MUST_MS} ms for each 100`,
        verdict: judged(added <= MUST_MS),
      }),
    });
  }
  return {
    title: `Uploads with other sandboxes on the codebase, one in ${RUNNING_SHARE} running, ${uploads} times`,
    rows,
  };
}

async function createUntil(server, made, count) {
  let next = made;
  const work = async () => {
    while (next < count) {
      const index = next++;
      const id = await server.create();
      await server.exec(id, `echo ${index} > changed-${index}`);
      if (index % RUNNING_SHARE > 0) await server.call('POST', `/v1/sandboxes/${id}/stop`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}
