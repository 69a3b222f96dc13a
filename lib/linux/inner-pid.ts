import { readFileSync } from 'node:fs';

/**
 * The pid of a host process in its innermost pid namespace (proc_pid_status(5), NSpid); undefined if it has ended.
 */
export function innerPid(pid: number): number | undefined {
  try {
    return Number(/^NSpid:.*\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    return undefined;
  }
}
