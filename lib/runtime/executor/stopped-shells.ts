import { readFileSync } from 'node:fs';
import { AGENT_DIR } from './places.ts';

/** Processes of the agent's part that are looked at: on a host without cgroups, that part is the whole sandbox. */
const MOST_LOOKED = 64;

/**
 * Lets shells of the executor go on that a process of the sandbox has stopped, as `kill -STOP -1` does: nothing inside
 * would ever continue them. Returns how many of the processes were stopped. Reads one file of /proc for each.
 */
export function continueStopped(pids: Iterable<number>): number {
  let stopped = 0;
  for (const pid of pids) {
    if (!isStopped(pid)) continue;
    stopped++;
    send(pid);
  }
  return stopped;
}

/** Likewise the agent, and runners that are starting. `pids`: those of the agent's part; of others, nothing is continued. */
export function continueAgent(pids: readonly number[]): number {
  const looked =
    pids.length <= MOST_LOOKED ? pids : [...pids.slice(0, MOST_LOOKED / 2), ...pids.slice(-MOST_LOOKED / 2)];
  return continueStopped(looked.filter((pid) => isStopped(pid) && isOfAgent(pid)));
}

function isStopped(pid: number): boolean {
  const stat = read(pid, 'stat');
  return stat.charAt(stat.lastIndexOf(')') + 2) === 'T';
}

/** Its script or its request is an argument. A process that only pretends to be one is continued, too. */
function isOfAgent(pid: number): boolean {
  return read(pid, 'cmdline')
    .split('\0')
    .some((word) => word.startsWith(`${AGENT_DIR}/`));
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

function send(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {}
}
