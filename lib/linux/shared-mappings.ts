import { open, readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './errno.ts';

/** Milliseconds between two looks at a process that is ending, and for which it may take. */
const ENDING_POLL_MS = 2;
const ENDING_MS = 5000;
const PART_BYTES = 1 << 16;

/** Files that processes have mapped with MAP_SHARED, by inode number: a path that opens the mapped file (proc_pid_map_files(5)). */
export type SharedMappings = ReadonlyMap<string, string>;

/** Runs a task when it is its turn. */
export type Turn = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * The files of one file system that the processes listed in `proc` (a /proc) have mapped with MAP_SHARED, whatever their
 * protection is now: pages may be dirty from before. `device`: "major:minor" in decimal. The pages of a process that is
 * ending are written back by its end, which is waited for; so are those of a mapping that is removed.
 *
 * The kernel may have a reader of `maps` wait for the process, and that for its file system: call it from a thread
 * that serves neither. Each process is looked at in a turn, which occupies one thread of the pool. Rejects if a process does
 * not end. `resting`: processes that map nothing, by their names in `proc`.
 */
export async function sharedMappings(
  proc: string,
  device: string,
  turn: Turn,
  resting: ReadonlySet<string> = new Set(),
): Promise<SharedMappings> {
  const shared = new RegExp(`^([0-9a-f]+-[0-9a-f]+) ...s [0-9a-f]+ ${hexadecimal(device)} (\\d+)`, 'gm');
  const found = new Map<string, string>();
  for (const name of await readdir(proc)) {
    if (!/^\d+$/.test(name) || resting.has(name)) continue;
    await look(proc, name, (directory) => turn(() => addShared(found, directory, shared)));
  }
  return found;
}

/** Looks at the memory map of a process; `at` returns false for a process or thread that has none. */
async function look(proc: string, pid: string, at: (directory: string) => Promise<boolean>): Promise<void> {
  for (let waited = 0; ; waited += ENDING_POLL_MS) {
    if (await at(`${proc}/${pid}`)) return;
    // The first thread of a process may end before the others, which have entries that are not listed.
    for (const thread of await readdir(`${proc}/${pid}/task`).catch(() => [])) {
      if (await at(`${proc}/${thread}`)) return;
    }
    const status = await readFile(`${proc}/${pid}/status`, 'latin1').catch(ignoreEnded);
    if (!/^State:\t[^ZX]/m.test(status ?? '')) return;
    if (waited >= ENDING_MS) throw new Error('a process that is ending does not end');
    await delay(ENDING_POLL_MS);
  }
}

/** Adds what `shared` matches in the memory map, part by part: there may be 65,530 mappings. See proc_pid_maps(5). */
async function addShared(found: Map<string, string>, directory: string, shared: RegExp): Promise<boolean> {
  const maps = await open(`${directory}/maps`).catch(ignoreEnded);
  if (maps === undefined) return false;
  try {
    const part = Buffer.allocUnsafe(PART_BYTES);
    let rest = '';
    for (let read = 0; ; read++) {
      const { bytesRead } = (await maps.read(part, 0, PART_BYTES, null).catch(ignoreEnded)) ?? { bytesRead: 0 };
      if (bytesRead === 0) return read > 0;
      const text = rest + part.toString('latin1', 0, bytesRead);
      const end = text.lastIndexOf('\n') + 1;
      for (const [, range, inode] of text.slice(0, end).matchAll(shared)) {
        found.set(inode!, `${directory}/map_files/${range}`);
      }
      rest = text.slice(end);
    }
  } finally {
    await maps.close();
  }
}

function ignoreEnded(error: unknown): undefined {
  const code = errorCode(error);
  if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
}

function hexadecimal(device: string): string {
  return device
    .split(':')
    .map((number) => Number(number).toString(16).padStart(2, '0'))
    .join(':');
}
