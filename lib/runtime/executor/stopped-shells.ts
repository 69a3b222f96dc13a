import { openSync, readSync } from 'node:fs';
import { closeQuietly } from '../../linux/close.ts';
import { commandLine } from '../../linux/command-line.ts';
import { AGENT_DIR } from './places.ts';

/** Processes of the agent's part that are looked at: on a host without cgroups, that part is the whole sandbox. */
const MOST_LOOKED = 64;

/** Bytes that are read of a file of /proc. */
const MOST_BYTES = 4096;
const buffer = Buffer.allocUnsafeSlow(MOST_BYTES);

/**
 * Lets shells of the executor go on that a process of the sandbox has stopped, as `kill -STOP -1` does: nothing inside
 * would ever continue them. Returns how many of the processes were stopped, those included that only a tracer can continue.
 * `uid`: that of the sandbox's processes; undefined: the server's own. A shell may have ended, and its pid be that of another
 * sandbox's process by now, which is left alone. Reads one file of /proc for each.
 */
export function continueStopped(pids: Iterable<number>, uid: number | undefined): number {
  let stopped = 0;
  for (const pid of pids) {
    if (!isStopped(pid, uid)) continue;
    stopped++;
    send(pid);
  }
  return stopped;
}

/** Likewise the agent, and runners that are starting. `pids`: those of the agent's part; of others, nothing is continued. */
export async function continueAgent(pids: readonly number[], uid: number | undefined): Promise<number> {
  const looked =
    pids.length <= MOST_LOOKED ? pids : [...pids.slice(0, MOST_LOOKED / 2), ...pids.slice(-MOST_LOOKED / 2)];
  const own: number[] = [];
  for (const pid of looked) if (isStopped(pid, uid) && (await isOfAgent(pid))) own.push(pid);
  return continueStopped(own, uid);
}

function isStopped(pid: number, uid: number | undefined): boolean {
  const status = statusOf(pid);
  return /^State:\t[Tt]/m.test(status) && (uid === undefined || status.includes(`\nUid:\t${uid}\t`));
}

/** Its script or its request is an argument. A process that only pretends to be one is continued, too. */
async function isOfAgent(pid: number): Promise<boolean> {
  return (await commandLine(pid)).split('\0').some((word) => word.startsWith(`${AGENT_DIR}/`));
}

/** The beginning of its status, which does not wait for the process; empty if there is none. */
function statusOf(pid: number): string {
  let fd: number | undefined;
  try {
    fd = openSync(`/proc/${pid}/status`, 'r');
    return buffer.toString('latin1', 0, readSync(fd, buffer, 0, MOST_BYTES, 0));
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeQuietly(fd);
  }
}

function send(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {}
}
