/**
 * Measures the start of a sandbox that has changed a million entries, whose index is read, and the start after more than half of
 * them were removed, when the index is rewritten, too. Then that of its fork. Meanwhile requests are made for another sandbox,
 * which the same thread serves.
 */
import { join } from 'node:path';
import { append, made, removed } from '../delta-journal.mjs';
import { Probe } from './probe.mjs';

const quick = process.argv.includes('--quick');
const DIRECTORIES = quick ? 50 : 1000;
const ENTRIES = 1000;
/** After those of what the sandbox itself has made. */
const FIRST_ID = 1000;
const DURING = {
  none: 'nothing else',
  load: 'the load of the index',
  rewrite: 'the load and rewrite of the index',
  fork: 'the load of the index of a fork',
};

export async function largeIndex(server, directory) {
  const id = await server.create();
  const other = await server.create();
  await server.exec(other, 'echo x > probed');
  await server.exec(id, 'mkdir first');
  const probe = new Probe({ ...server.address, path: `/v1/sandboxes/${other}/stat?path=probed` });
  const rows = [];
  const measured = async (during, task) => {
    const began = performance.now();
    await probe.during(during, task);
    const ms = performance.now() - began;
    if (during !== DURING.none) rows.push({ name: `start with ${during}`, value: `${(ms / 1000).toFixed(2)} s` });
    rows.push(await probe.row(during));
  };
  const journal = join(directory, 'state/mounts/deltas', id, 'journal');
  const restarted = async (records) => {
    await server.call('POST', `/v1/sandboxes/${id}/stop`);
    append(journal, records);
    return () => started(server, id);
  };
  await measured(DURING.none, () => new Promise((resolve) => setTimeout(resolve, 1000)));
  const all = { directories: DIRECTORIES, entries: ENTRIES, first: FIRST_ID };
  await measured(DURING.load, await restarted(made(`${id}.0`, all)));
  await measured(DURING.rewrite, await restarted(removed({ ...all, directories: DIRECTORIES * 0.6 })));
  const { results } = await server.call('POST', `/v1/sandboxes/${id}/fork`, { count: 1 });
  const fork = results[0].sandbox.id;
  for (const each of [fork, id]) await server.call('POST', `/v1/sandboxes/${each}/stop`);
  await measured(DURING.fork, () => started(server, fork));
  probe.stop();
  for (const each of [fork, id, other]) await server.destroy(each);
  return { title: `An index of ${(DIRECTORIES * ENTRIES).toLocaleString('en')} entries`, rows };
}

/** Starts a sandbox and uses its workspace, which reads its index. */
async function started(server, id) {
  await server.call('POST', `/v1/sandboxes/${id}/start`);
  await server.call('POST', `/v1/sandboxes/${id}/exec`, { command: 'ls > /dev/null', timeout: 600 });
}
