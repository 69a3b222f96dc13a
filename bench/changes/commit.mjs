/**
 * Compares a commit of 10,000 new small files with `cp -a` of the same files followed by `sync -f`: after both the files
 * are on the disk, and the commit is also atomic over a crash. They alternate on the same disk, each after a `sync`, so
 * that neither writes out earlier dirty pages.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { judged, median } from '../exec/table.mjs';
import { FILES, makeFiles } from './files.mjs';

const WARM_UP = 1;
const DIRECTORIES = FILES / 100;
const MUST = 2;
const AIM = 1;

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
    execFileSync('sync');
    const began = performance.now();
    execFileSync('cp', ['-a', join(directory, 'from'), join(directory, `to${round}`)]);
    execFileSync('sync', ['-f', directory]);
    const copy = performance.now() - began;
    if (round < 0) continue;
    times.fresh.push(fresh);
    times.among.push(among);
    times.copies.push(copy);
  }
  await server.destroy(id);
  const rows = [
    row('10,000 new files of 1 KiB in new directories', times.fresh, times.copies),
    row('10,000 new files of 1 KiB in existing directories', times.among, times.copies),
    { name: 'cp -a of the same files, then sync -f', value: `${median(times.copies).toFixed(0)} ms` },
  ];
  return { title: `Commit, ${rounds} times, alternating with cp`, rows };
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
