import { readFileSync } from 'node:fs';
import { errorCode } from './errno.ts';

/**
 * PF_EXITING: the init process exits before the processes of its pid namespace are killed, which takes a moment
 * (proc_pid_stat(5), flags).
 */
const PF_EXITING = 0x4;
/** In the set of pending signals (proc_pid_stat(5), signal): it was sent, and nothing prevents the end. */
const SIGKILL_PENDING = 1 << 8;
/** Indexes of these fields, counted from that of the state. */
const [FLAGS, SIGNAL] = [6, 28];

/** Whether a host process exists, is not exiting and was not sent SIGKILL. True if that cannot be read. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[FLAGS]) & PF_EXITING) === 0 && (Number(fields[SIGNAL]) & SIGKILL_PENDING) === 0;
  } catch (error) {
    // Any other error says nothing about the process.
    return !['ENOENT', 'ESRCH'].includes(errorCode(error) ?? '');
  }
}
