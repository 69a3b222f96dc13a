/**
 * Measures what is done with the index of a sandbox that has changed a million entries: the start, which reads it; a list of all
 * changes, a commit of one of them, a checkpoint, a rollback and a discard; the start after more than half of the entries were
 * removed, when the index is rewritten; a fork, its start, and a removal. For each: for how long at most the request
 * worker served no request, and how long requests for another sandbox took, which the same thread serves.
 */
import { join } from 'node:path';
import { append, made, removed } from '../delta-journal.mjs';
import { Probe } from './probe.mjs';
import { WorkerBlocks } from './worker-blocks.mjs';

const quick = process.argv.includes('--quick');
const DIRECTORIES = quick ? 50 : 1000;
const ENTRIES = 1000;
/** After those of what the sandbox itself has made. */
const FIRST_ID = 1000;
const ALL = { directories: DIRECTORIES, entries: ENTRIES, first: FIRST_ID };
const MOST = { ...ALL, directories: DIRECTORIES * 0.6 };

export const largeIndex = Object.assign(measure, { watched: (directory) => new WorkerBlocks(directory) });

async function measure(server, directory, _rounds, blocks) {
  const other = await server.create();
  await server.exec(other, 'echo x > probed');
  const probe = new Probe({ ...server.address, path: `/v1/sandboxes/${other}/stat?path=probed` });
  const rows = [];
  const measured = async (name, task) => {
    const began = performance.now();
    const { result, row } = await blocks.during(name, () => probe.during(name, task));
    rows.push({ name, value: `${((performance.now() - began) / 1000).toFixed(2)} s` }, row, await probe.row(name));
    return result;
  };
  const enlarged = async (records) => {
    const id = await server.create();
    await server.exec(id, 'date +%N > first');
    await server.call('POST', `/v1/sandboxes/${id}/stop`);
    for (const each of records) append(join(directory, 'state/mounts/deltas', id, 'journal'), each(`${id}.0`));
    return id;
  };
  await measured('nothing else', () => new Promise((resolve) => setTimeout(resolve, 1000)));
  const whole = await enlarged([(layer) => made(layer, ALL)]);
  await measured('the start, with the load of the index', () => started(server, whole));
  await operations(server, whole, measured);
  await measured('the removal', () => server.destroy(whole));
  const most = await enlarged([(layer) => made(layer, ALL), () => removed(MOST)]);
  await measured('the start, with the load and rewrite of the index', () => started(server, most));
  await forks(server, most, measured);
  probe.stop();
  for (const each of [most, other]) await server.destroy(each);
  return { title: `An index of ${(DIRECTORIES * ENTRIES).toLocaleString('en')} entries`, rows };
}

async function operations(server, id, measured) {
  const call = (method, what, body) => server.call(method, `/v1/sandboxes/${id}/${what}`, body);
  await measured('a list of all changes', () => changes(call));
  await measured('a list of one directory', () => call('GET', `files?path=d${FIRST_ID}`));
  await measured('a commit of one change', () => call('POST', 'commit', { paths: ['first'] }));
  // With the root, a million are more than a sandbox with a checkpoint may have.
  await server.exec(id, `rm -rf d${FIRST_ID}`);
  await measured('a checkpoint', () => call('POST', 'checkpoints', { name: 'whole' }));
  await server.exec(id, `rm -rf d${FIRST_ID + ENTRIES}`);
  await measured('a rollback', () => call('POST', 'rollback', { checkpoint: 'whole' }));
  await measured('a discard', () => call('POST', 'discard', {}));
}

async function forks(server, id, measured) {
  const { results } = await measured('a fork', () => server.call('POST', `/v1/sandboxes/${id}/fork`, { count: 1 }));
  const fork = results[0].sandbox.id;
  for (const each of [fork, id]) await server.call('POST', `/v1/sandboxes/${each}/stop`);
  await measured('the start of the fork, with the load of the index', () => started(server, fork));
  await measured('the removal of the fork', () => server.destroy(fork));
}

async function changes(call) {
  let token = '';
  do {
    const page = await call('GET', `changes?page_size=1000&page_token=${encodeURIComponent(token)}`);
    token = page.next_page_token;
  } while (token !== '');
}

/** Starts a sandbox and uses its workspace, which reads its index. */
async function started(server, id) {
  await server.call('POST', `/v1/sandboxes/${id}/start`);
  await server.call('POST', `/v1/sandboxes/${id}/exec`, { command: 'ls > /dev/null', timeout: 600 });
}
