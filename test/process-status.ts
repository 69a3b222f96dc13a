import { readFileSync } from 'node:fs';

/** Empty if there is no such process. */
export function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

/** Whether a process runs no more. A zombie only waits for its parent, which may be the init of a container that never looks. */
export function hasEnded(pid: number): boolean {
  const status = statusOf(pid);
  return status === '' || /^State:\t[ZX]/m.test(status);
}
