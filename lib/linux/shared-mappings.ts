import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './errno.ts';

/** Milliseconds between two looks at a process that is ending, and for which it may take. */
const ENDING_POLL_MS = 2;
const ENDING_MS = 5000;

/** Files that processes have mapped with MAP_SHARED, by inode number: a path that opens the mapped file (proc_pid_map_files(5)). */
export type SharedMappings = ReadonlyMap<string, string>;

/**
 * The files of one file system that the processes listed in `proc` (a /proc) have mapped with MAP_SHARED, whatever their
 * protection is now: pages may be dirty from before. `device`: "major:minor" in decimal. The pages of a process that is
 * ending are written back by its end, which is waited for; so are those of a mapping that is removed.
 *
 * The kernel may have a reader of `maps` wait for the process, and that for its file system: call it from a thread
 * that serves neither. It occupies one thread of the pool at a time. Rejects if a process does not end.
 */
export async function sharedMappings(proc: string, device: string): Promise<SharedMappings> {
  const field = ` ${hexadecimal(device)} `;
  const found = new Map<string, string>();
  for (const name of await readdir(proc)) {
    if (!/^\d+$/.test(name)) continue;
    const { maps, owner } = await mapsOf(proc, name);
    if (!maps.includes(field)) continue;
    for (const { range, inode } of sharedIn(maps, field)) found.set(inode, `${proc}/${owner}/map_files/${range}`);
  }
  return found;
}

/** Parses the text of /proc/PID/maps; `field`: the device column with the spaces around it. See proc_pid_maps(5). */
function sharedIn(maps: string, field: string): { range: string; inode: string }[] {
  return maps.split('\n').flatMap((line) => {
    const [range = '', mode = '', , , inode = ''] = line.split(' ', 5);
    return mode[3] === 's' && line.includes(field) ? [{ range, inode }] : [];
  });
}

/** The memory map of a process, and which of its threads has it; '' if it has none any more. */
async function mapsOf(proc: string, pid: string): Promise<{ maps: string; owner: string }> {
  for (let waited = 0; ; waited += ENDING_POLL_MS) {
    const maps = await textOf(`${proc}/${pid}/maps`);
    if (maps !== '') return { maps, owner: pid };
    // The first thread of a process may end before the others, which have entries that are not listed.
    for (const owner of await readdir(`${proc}/${pid}/task`).catch(() => [])) {
      const ofThread = await textOf(`${proc}/${owner}/maps`);
      if (ofThread !== '') return { maps: ofThread, owner };
    }
    if (!/^State:\t[^ZX]/m.test(await textOf(`${proc}/${pid}/status`))) return { maps: '', owner: pid };
    if (waited >= ENDING_MS) throw new Error('a process that is ending does not end');
    await delay(ENDING_POLL_MS);
  }
}

/** '' if the process has ended. */
async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}

function hexadecimal(device: string): string {
  return device
    .split(':')
    .map((number) => Number(number).toString(16).padStart(2, '0'))
    .join(':');
}
