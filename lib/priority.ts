import { existsSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** Gives a process its own priority back; where setpriv is, this is too, but it is not taken for granted. */
export const RENICE = '/usr/bin/renice';

/**
 * Every command is started and heard by this one thread, which the shells that it wakes would otherwise make wait: where
 * that is allowed it goes before them. Answers the niceness it had, which sandboxes are to have; undefined: still its own.
 */
export function goFirst(): number | undefined {
  const niceness = getPriority();
  if (!existsSync(RENICE)) return undefined;
  try {
    setPriority(Math.max(niceness + constants.priority.PRIORITY_ABOVE_NORMAL, constants.priority.PRIORITY_HIGHEST));
    return niceness;
  } catch {
    return undefined;
  }
}
