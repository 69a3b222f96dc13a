import { readFileSync } from 'node:fs';

/**
 * When a process was started, in clock ticks since the boot of the host: with its pid it names one process, also when the
 * pid is used again. undefined: there is no such process.
 */
export function startOf(pid: number): string | undefined {
  try {
    // The name of the program, in parentheses, may have any characters.
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')[19];
  } catch {
    return undefined;
  }
}
