import { open, readdir, readlink } from 'node:fs/promises';
import { errorCode } from './errno.ts';
import type { Turn } from './shared-mappings.ts';

/**
 * Limits of one look: descriptors, and bytes of what the kernel says of their watches. A program may have a hundred thousand
 * watches, and thousands of descriptors that share them.
 */
const MOST_DESCRIPTORS = 16_384;
const MOST_BYTES = 4 * 2 ** 20;
/** Descriptors of one process whose watches are read. */
const MOST_OF_PROCESS = 64;
/** Bytes that are read, and searched, in one step. */
const PIECE = 65_536;

interface Budget {
  descriptors: number;
  bytes: number;
}

/**
 * The inode numbers on one file system that the processes listed in `proc` (a /proc) watch by inotify(7), as
 * proc_pid_fdinfo(5) tells them. `device`: "major:minor" in decimal. Each process is looked at in a turn. `resting`: processes that
 * watch nothing, by their names in `proc`. What exceeds the limits of a look is not found.
 */
export async function inotifyWatches(
  proc: string,
  device: string,
  turn: Turn,
  resting: ReadonlySet<string> = new Set(),
): Promise<ReadonlySet<number>> {
  const watch = new RegExp(`^inotify wd:\\S+ ino:([0-9a-f]+) sdev:${encoded(device)} `, 'gm');
  const found = new Set<number>();
  const budget = { descriptors: MOST_DESCRIPTORS, bytes: MOST_BYTES };
  for (const name of await readdir(proc)) {
    if (budget.descriptors <= 0 || budget.bytes <= 0) break;
    if (/^\d+$/.test(name) && !resting.has(name)) await turn(() => addWatched(found, `${proc}/${name}`, watch, budget));
  }
  return found;
}

async function addWatched(found: Set<number>, directory: string, watch: RegExp, budget: Budget): Promise<void> {
  const descriptors = (await readdir(`${directory}/fd`).catch(ignoreEnded)) ?? [];
  let left = MOST_OF_PROCESS;
  for (const name of descriptors) {
    if (left === 0 || budget.bytes <= 0 || budget.descriptors-- <= 0) return;
    if ((await readlink(`${directory}/fd/${name}`).catch(ignoreEnded)) !== 'anon_inode:inotify') continue;
    left--;
    for await (const lines of linesOf(`${directory}/fdinfo/${name}`, budget)) {
      for (const [, ino] of lines.matchAll(watch)) found.add(Number.parseInt(ino!, 16));
    }
  }
}

/** The lines of a file in pieces, as far as the budget goes. */
async function* linesOf(path: string, budget: Budget): AsyncGenerator<string, void, void> {
  const file = await open(path).catch(ignoreEnded);
  if (file === undefined) return;
  try {
    const buffer = Buffer.allocUnsafe(PIECE);
    for (let begun = ''; budget.bytes > 0; ) {
      const { bytesRead } = (await file.read(buffer, 0, PIECE).catch(ignoreEnded)) ?? { bytesRead: 0 };
      if (bytesRead === 0) return;
      budget.bytes -= bytesRead;
      const text = begun + buffer.toString('latin1', 0, bytesRead);
      const end = text.lastIndexOf('\n') + 1;
      begun = text.slice(end);
      yield text.slice(0, end);
    }
  } finally {
    await file.close();
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
