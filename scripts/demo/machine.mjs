/** Settings that this machine requires; without any, the demo runs on the defaults. */
import { readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns sections of a configuration file. */
export function settings() {
  const runtime = {};
  // Sandboxes see the system's /usr; a program in another place has to be made visible.
  const node = realpathSync(process.execPath);
  if (!node.startsWith('/usr/')) runtime.read_only_paths = [dirname(dirname(node))];
  const limited = subordinateIds();
  if (limited) runtime.uid_range = limited;
  return {
    ...(Object.keys(runtime).length > 0 && { runtime }),
    // Root of a user namespace has no cgroups for limits.
    ...(limited && { sandbox: { default_resources: { memory_bytes: 0, pids_limit: 0 } } }),
  };
}

/**
 * In a user namespace only some ids are mapped. Returns the largest range above the system's own; undefined: all ids
 * are mapped.
 */
function subordinateIds() {
  const lines = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
  const runs = lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([inside, , count]) => ({ start: inside, size: count }));
  if (runs.some(({ size }) => size > 2 ** 31)) return undefined;
  const { start, size } = runs.sort((a, b) => b.size - a.size)[0];
  return { start: start + 1000, size: size - 2000 };
}
