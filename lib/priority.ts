import { existsSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Restores the priority of a process. Usually present where setpriv is, but not guaranteed. */
export const RENICE = '/usr/bin/renice';

/**
 * Raises this process's scheduling priority, so that the event loop is not starved by the shells that it wakes. Returns
 * the previous niceness, which sandboxes get, or undefined if raising is not permitted.
 */
export function raisePriority(): number | undefined {
  const niceness = getPriority();
  if (!existsSync(RENICE)) return undefined;
  try {
    setPriority(Math.max(niceness + constants.priority.PRIORITY_ABOVE_NORMAL, constants.priority.PRIORITY_HIGHEST));
    return niceness;
  } catch {
    return undefined;
  }
}
