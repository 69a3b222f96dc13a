/**
 * Commit of 10,000 new small files beside `cp -a` of the same files with `sync -f` after it: both end with the files on
 * the disk, the commit also with a journal that a crash cannot leave half done. Both in turn, on the same disk, each after
 * a `sync`, so that neither writes out what was dirty before it.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { judged, median } from '../exec/table.mjs';
import { FILES, makeFiles } from './files.mjs';

const WARM_UP = 1;
const MUST = 2;
const AIM = 1;

export async function commit(server, directory, rounds) {
  const id = await server.create();
  execFileSync('/bin/sh', ['-c', makeFiles('from', FILES, 100)], { cwd: directory });
  const [commits, copies] = [[], []];
  for (let round = -WARM_UP; round < rounds; round++) {
    await server.exec(id, makeFiles(`round${round}`, FILES, 100));
    execFileSync('sync');
    let began = performance.now();
    const { committed, count } = await server.call('POST', `/v1/sandboxes/${id}/commit`, {});
    const ofCommit = performance.now() - began;
    if (!committed || count !== FILES + FILES / 100 + 1) throw new Error(`${count} changes were committed`);
    execFileSync('sync');
    began = performance.now();
    execFileSync('cp', ['-a', join(directory, 'from'), join(directory, `to${round}`)]);
    execFileSync('sync', ['-f', directory]);
    const ofCopy = performance.now() - began;
    if (round < 0) continue;
    commits.push(ofCommit);
    copies.push(ofCopy);
  }
  await server.destroy(id);
  const ratios = commits.map((ms, round) => ms / copies[round]);
  const ratio = median(ratios);
  const rows = [
    {
      name: 'Commit of 10,000 new files of 1 KiB',
      value: `${median(commits).toFixed(0)} ms`,
      beside: `${ratio.toFixed(2)} × cp (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
      must: `${MUST} × cp`,
      aim: `${AIM} × cp`,
      verdict: judged(ratio <= MUST, ratio <= AIM),
    },
    { name: 'cp -a of the same files, then sync -f', value: `${median(copies).toFixed(0)} ms` },
  ];
  return { title: `Commit, ${rounds} times in turn with cp`, rows };
}
