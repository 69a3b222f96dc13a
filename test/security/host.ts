import { readFileSync } from 'node:fs';
import type { State } from '../contract/server.ts';

/** The host's view of the processes of a server's sandboxes. */
export function pidsOf(state: State): number[] {
  return state.processes().map((line) => Number(/^process (\d+) /.exec(line)?.[1]));
}

/** Returns /proc/<pid>/status by field; undefined if the process has ended. */
export function statusOf(pid: number): Record<string, string> | undefined {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'latin1').trim().split('\n');
    return Object.fromEntries(lines.map((line) => line.split(/:\s*/, 2) as [string, string]));
  } catch {
    return undefined;
  }
}
