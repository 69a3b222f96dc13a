/**
 * Compares commits of small files, new and changed, with `cp -a` of as many files followed by `sync -f`: after both the files
 * are on the disk, and the commit is also atomic over a crash. They alternate on the same disk, each after a `sync`, so
 * that neither writes out earlier dirty pages.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { judged, median } from '../exec/table.mjs';
import { changeFiles, FILES, makeFiles } from './files.mjs';
import { ofWatched } from './watched.mjs';

const WARM_UP = 1;
const DIRECTORIES = FILES / 100;
const MUST = 1.5;
const AIM = 1;
/** Numbers of changed files, and the milliseconds for one. */
const CHANGED = [1, 1000, 10_000];
const MUST_ONE = 15;
const SETTLE_MS = 3000;

export async function commit(server, directory, rounds) {
  const id = await server.create();
  execFileSync('/bin/sh', ['-c', makeFiles('from', FILES, 100)], { cwd: directory });
  /** @type {Record<'fresh' | 'among' | 'copies', number[]>} */
  const times = { fresh: [], among: [], copies: [] };
  const measure = async (command, expected) => {
    await server.exec(id, command);
    execFileSync('sync');
    const began = performance.now();
    const { committed, count } = await server.call('POST', `/v1/sandboxes/${id}/commit`, {});
    const took = performance.now() - began;
    if (!committed || count !== expected) throw new Error(`${count} changes were committed`);
    return took;
  };
  await measure(makeFiles('there', FILES, 100), FILES + DIRECTORIES + 1);
  for (let round = -WARM_UP; round < rounds; round++) {
    const fresh = await measure(makeFiles(`round${round}`, FILES, 100), FILES + DIRECTORIES + 1);
    const among = await measure(makeFiles('there', FILES, 100, 0, `r${round}-`), FILES);
    await settle();
    const began = performance.now();
    execFileSync('cp', ['-a', join(directory, 'from'), join(directory, `to${round}`)]);
    execFileSync('sync', ['-f', directory]);
    const copy = performance.now() - began;
    if (round < 0) continue;
    times.fresh.push(fresh);
    times.among.push(among);
    times.copies.push(copy);
  }
  const changed = [];
  for (const count of CHANGED) changed.push(await ofChanged(count, { directory, measure, rounds }));
  const watched = await ofWatched({ server, id, measure, rounds });
  await server.destroy(id);
  const rows = [
    row('10,000 new files of 1 KiB in new directories', times.fresh, times.copies),
    row('10,000 new files of 1 KiB in existing directories', times.among, times.copies),
    { name: 'cp -a of the same files, then sync -f', value: `${median(times.copies).toFixed(0)} ms` },
    ...changed,
    ...watched,
  ];
  return { title: `Commit, ${rounds} times, alternating with cp`, rows };
}

/** Commits of files that the codebase has, in turn with `cp`. */
async function ofChanged(count, { directory, measure, rounds }) {
  const at = `changed${count}`;
  const made = count + Math.ceil(count / 100) + 1;
  await measure(makeFiles(at, count, 100), made);
  execFileSync('/bin/sh', ['-c', makeFiles(at, count, 100)], { cwd: directory });
  /** @type {Record<'commits' | 'copies', number[]>} */
  const { commits, copies } = { commits: [], copies: [] };
  for (let round = 0; round < rounds; round++) {
    commits.push(await measure(changeFiles(at, round), count));
    await settle();
    const began = performance.now();
    execFileSync('cp', ['-a', join(directory, at), join(directory, `${at}-${round}`)]);
    execFileSync('sync', ['-f', directory]);
    copies.push(performance.now() - began);
  }
  if (count > 1) return row(`${count.toLocaleString('en')} changed files of 1 KiB`, commits, copies);
  const ms = median(commits);
  const beside = `cp ${median(copies).toFixed(1)} ms`;
  return {
    name: 'Commit of one changed file',
    value: `${ms.toFixed(1)} ms`,
    beside,
    must: `${MUST_ONE} ms`,
    verdict: judged(ms <= MUST_ONE),
  };
}

/** Before a copy: a commit frees what it replaced a second after its answer, and the copy should not wait for that. */
async function settle() {
  await delay(SETTLE_MS);
  execFileSync('sync');
}

function row(name, times, copies) {
  const ratios = times.map((ms, round) => ms / copies[round]);
  const ratio = median(ratios);
  return {
    name: `Commit of ${name}`,
    value: `${median(times).toFixed(0)} ms`,
    beside: `${ratio.toFixed(2)} × cp (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
    must: `${MUST} × cp`,
    aim: `${AIM} × cp`,
    verdict: judged(ratio <= MUST, ratio <= AIM),
  };
}
