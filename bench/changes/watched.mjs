import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../exec/table.mjs';
import { changeFiles, makeFiles } from './files.mjs';

/** Commits of files in directories that a program of the sandbox watches, as `inotifywait -r` does, in turn with the same unwatched. */
export async function ofWatched({ server, id, measure, rounds }) {
  const counts = [1, 1000];
  for (const count of counts)
    await measure(makeFiles(`watched${count}`, count, 100), count + Math.ceil(count / 100) + 1);
  /** @type {Record<'watched' | 'not', number[]>[]} */
  const times = counts.map(() => ({ watched: [], not: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, count] of counts.entries()) {
      const { watched, not } = times[index];
      not.push(await measure(changeFiles(`watched${count}`, 2 * round), count));
      const process = await server.call('POST', `/v1/sandboxes/${id}/processes`, { command: WATCH });
      for (const ready = 'test -e /tmp/watching'; (await status(server, id, ready)) !== 0; ) await delay(20);
      watched.push(await measure(changeFiles(`watched${count}`, 2 * round + 1), count));
      await server.call('DELETE', `/v1/sandboxes/${id}/processes/${process.process_id}`);
      await server.exec(id, 'rm /tmp/watching');
    }
  }
  return times.map(({ watched, not }, index) => ({
    name: `Commit with every directory watched (inotify), changed files: ${counts[index].toLocaleString('en')}`,
    value: `${median(watched).toFixed(1)} ms`,
    beside: `not watched ${median(not).toFixed(1)} ms`,
  }));
}

const status = async (server, id, command) =>
  (await server.call('POST', `/v1/sandboxes/${id}/exec`, { command })).exit_code;

/** Watches all directories for all events, and reads these. */
const WATCH = `exec python3 -c '
import ctypes, os
libc = ctypes.CDLL(None)
inotify = libc.inotify_init1(0)
for at, _, _ in os.walk("/workspace"): libc.inotify_add_watch(inotify, at.encode(), 0xfff)
open("/tmp/watching", "w").close()
while True: os.read(inotify, 1 << 16)'`;
