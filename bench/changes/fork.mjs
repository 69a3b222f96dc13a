/** Measures checkpoint, fork and rollback of a sandbox with many changed files, compared with creating empty sandboxes. */
import { judged, median } from '../exec/table.mjs';
import { FILES, makeFiles } from './files.mjs';

const FORKS = 100;
const CONCURRENCY = 8;
const ONE = { must: 50, aim: 5 };
const MANY = { must: 1000 };

export async function fork(server, _directory, rounds) {
  const id = await server.create();
  await server.exec(id, makeFiles('deep', FILES, 20));
  const times = { checkpoint: [], create: [], fork: [], first: [], rollback: [], creates: [], forks: [] };
  const timed = async (name, act) => {
    const began = performance.now();
    const result = await act();
    times[name].push(performance.now() - began);
    return result;
  };
  const forks = async (count) => {
    const { results } = await server.call('POST', `/v1/sandboxes/${id}/fork`, { count });
    return results.map(({ sandbox, error }) => {
      if (error) throw new Error(error.message);
      return sandbox.id;
    });
  };
  for (let round = 0; round < rounds; round++) {
    // Without a new change there would be nothing to freeze.
    await server.exec(id, `echo ${round} > deep/round`);
    await timed('checkpoint', () => server.call('POST', `/v1/sandboxes/${id}/checkpoints`, { name: `c${round}` }));
    await server.exec(id, `echo ${round} > deep/again`);
    const [child] = await timed('fork', () => forks(1));
    await timed('first', () => server.exec(child, 'cat deep/d0250/f005000 > /dev/null'));
    await server.destroy(child);
    await server.destroy(await timed('create', () => server.create()));
    await timed('rollback', () => server.call('POST', `/v1/sandboxes/${id}/rollback`, { checkpoint: `c${round}` }));
  }
  for (let round = 0; round < Math.ceil(rounds / 3); round++) {
    await destroyAll(server, await timed('forks', () => forks(FORKS)));
    await destroyAll(server, await timed('creates', () => createAll(server)));
  }
  const rows = [
    row('checkpoint', times.checkpoint, ONE),
    row('fork', times.fork, ONE, times.create),
    row('first command in it, reading a file', times.first),
    row('rollback of two files', times.rollback),
    row(`${FORKS} forks in one call`, times.forks, MANY, times.creates),
  ];
  return {
    title: `A sandbox with ${FILES.toLocaleString('en')} changed files, compared with creating empty ones`,
    rows,
  };
}

async function createAll(server) {
  const ids = [];
  let left = FORKS;
  const work = async () => {
    while (left-- > 0) ids.push(await server.create());
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return ids;
}

async function destroyAll(server, ids) {
  const left = [...ids];
  const work = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await server.destroy(id);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
}

function row(name, times, limit, beside) {
  const ms = median(times);
  return {
    name,
    value: `${ms.toFixed(0)} ms`,
    ...(beside && { beside: `${median(beside).toFixed(0)} ms` }),
    ...(limit && {
      must: `${limit.must} ms`,
      ...(limit.aim && { aim: `${limit.aim} ms` }),
      verdict: judged(ms <= limit.must, ms <= (limit.aim ?? limit.must)),
    }),
  };
}
