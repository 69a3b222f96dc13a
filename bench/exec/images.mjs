/** Measures CreateSandbox with the first Exec on an image, compared with the host's file system. Needs busybox-static. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { at, judged } from './table.mjs';

const WARM_UP = 3;
/** The directories of a Debian image: each is mounted for itself. */
const DIRECTORIES = 'bin boot etc lib lib64 media mnt opt root sbin srv usr usr/bin var'.split(' ');
const PROGRAMS = ['sh', 'env', 'cat', 'true', 'kill', 'sleep'];

export async function images(server, rounds) {
  const { id } = await server.importImage('bench', archive());
  /** @type {Record<'withImage' | 'without', number[]>} */
  const times = { withImage: [], without: [] };
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, more] of Object.entries({ withImage: { image: id }, without: {} })) {
      const began = performance.now();
      const sandbox = await server.create(more);
      await server.exec(sandbox);
      if (round >= 0) times[name].push(performance.now() - began);
      await server.destroy(sandbox);
    }
  }
  const ratio = at(times.withImage, 0.5) / at(times.without, 0.5);
  const rows = [
    {
      name: 'CreateSandbox and first Exec with an image, p50',
      value: `${at(times.withImage, 0.5).toFixed(1)} ms`,
      beside: `${ratio.toFixed(2)} × without`,
      must: '1.2 × without',
      verdict: judged(ratio <= 1.2, false),
    },
    { name: 'without, p50', value: `${at(times.without, 0.5).toFixed(1)} ms` },
  ];
  return { title: `A new sandbox with an image, ${rounds} times`, rows };
}

function archive() {
  const root = mkdtempSync(join(tmpdir(), 'paddock-image-'));
  try {
    for (const directory of DIRECTORIES) mkdirSync(join(root, directory));
    copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
    for (const program of PROGRAMS) symlinkSync('/bin/busybox', join(root, 'bin', program));
    symlinkSync('/bin/busybox', join(root, 'usr/bin/env'));
    return execFileSync('tar', ['-c', '-C', root, '.'], { maxBuffer: 2 ** 28 });
  } finally {
    rmSync(root, { recursive: true });
  }
}
