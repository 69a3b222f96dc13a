import { readdirSync, rmdirSync } from 'node:fs';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { errorCode } from '../../linux/errno.ts';

/**
 * Removes a cgroup directory and all below it, deepest first. Returns false if a process is in one of them or `budget`
 * is used up. Throws only if no descriptor is free.
 */
export function removeTree(dir: string, budget = { left: Number.POSITIVE_INFINITY }): boolean {
  try {
    if (budget.left <= 0) return false;
    if (!isRemoved(dir)) {
      const below = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      if (below.length === 0 || !below.every(({ name }) => removeTree(`${dir}/${name}`, budget))) return false;
      if (budget.left <= 0) return false;
      rmdirSync(dir);
    }
    budget.left--;
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return errorCode(error) === 'ENOENT';
  }
  return true;
}

/** Most have none below, and a list of the dozens of files in a cgroup takes longer than an attempt. */
function isRemoved(dir: string): boolean {
  try {
    rmdirSync(dir);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EBUSY' || errorCode(error) === 'ENOTEMPTY') return false;
    throw error;
  }
}
