import { existsSync, readdirSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

const { PRIORITY_ABOVE_NORMAL, PRIORITY_HIGHEST } = constants.priority;

/** Restores the priority of a process. Usually present where setpriv is, but not guaranteed. */
export const RENICE = '/usr/bin/renice';

/**
 * Raises this process's scheduling priority, so that the event loop is not starved by the shells that it wakes. Returns
 * the previous niceness, which sandboxes get, or undefined if raising is not permitted. Call it before other threads are
 * started.
 */
export function raisePriority(): number | undefined {
  const niceness = getPriority();
  if (!existsSync(RENICE)) return undefined;
  try {
    const raised = Math.max(niceness + PRIORITY_ABOVE_NORMAL, PRIORITY_HIGHEST);
    setPriority(raised);
    raiseHelpers(raised);
    return niceness;
  } catch {
    return undefined;
  }
}

/**
 * Raises the threads that the engine and libuv have started: main thread and request worker wait for them in every
 * garbage collection, and callers in every access to the disk. At the priority of a sandbox's programs, when these use
 * all CPUs, a collection of 2 ms lasts 20 to 80 ms. Not higher than the main thread: some of them compress exports.
 */
function raiseHelpers(niceness: number): void {
  for (const thread of readdirSync('/proc/self/task').map(Number)) {
    if (thread === process.pid) continue;
    try {
      // On Linux setpriority(2) with a thread id affects that thread only.
      setPriority(thread, niceness);
    } catch {
      // It has ended, or this is not permitted. Only speed depends on it.
    }
  }
}
