import { readFileSync } from 'node:fs';

/** The sandbox's own /proc, by one of its processes. Throws if the process has ended, or is one of the host. */
export function ownProc(pid: number): string {
  requireInSandbox(pid);
  return `/proc/${pid}/root/proc`;
}

/** Throws for a process outside of a sandbox's pid namespace: its pid was used again. */
export function requireInSandbox(pid: number): void {
  if (!/^NSpid:\t\d+\t/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) throw new Error('not in a sandbox');
}
