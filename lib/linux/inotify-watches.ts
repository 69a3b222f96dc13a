import { readdir, readFile, readlink } from 'node:fs/promises';
import { errorCode } from './errno.ts';
import type { Turn } from './shared-mappings.ts';

/** Descriptors of a process that are looked at. */
const MOST_DESCRIPTORS = 4096;

/**
 * The inode numbers on one file system that the processes listed in `proc` (a /proc) watch by inotify(7), as
 * proc_pid_fdinfo(5) tells them. `device`: "major:minor" in decimal. Each process is looked at in a turn. `resting`: processes that
 * watch nothing, by their names in `proc`.
 */
export async function inotifyWatches(
  proc: string,
  device: string,
  turn: Turn,
  resting: ReadonlySet<string> = new Set(),
): Promise<ReadonlySet<number>> {
  const watch = new RegExp(`^inotify wd:\\S+ ino:([0-9a-f]+) sdev:${encoded(device)} `, 'gm');
  const found = new Set<number>();
  for (const name of await readdir(proc)) {
    if (/^\d+$/.test(name) && !resting.has(name)) await turn(() => addWatched(found, `${proc}/${name}`, watch));
  }
  return found;
}

async function addWatched(found: Set<number>, directory: string, watch: RegExp): Promise<void> {
  const descriptors = (await readdir(`${directory}/fd`).catch(ignoreEnded)) ?? [];
  for (const name of descriptors.slice(0, MOST_DESCRIPTORS)) {
    if ((await readlink(`${directory}/fd/${name}`).catch(ignoreEnded)) !== 'anon_inode:inotify') continue;
    const info = (await readFile(`${directory}/fdinfo/${name}`, 'latin1').catch(ignoreEnded)) ?? '';
    for (const [, ino] of info.matchAll(watch)) found.add(Number.parseInt(ino!, 16));
  }
}

function ignoreEnded(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
}

/** As the kernel prints a device number of its own (MKDEV). */
function encoded(device: string): string {
  const [major, minor] = device.split(':').map(Number);
  return ((major! << 20) | minor!).toString(16);
}
