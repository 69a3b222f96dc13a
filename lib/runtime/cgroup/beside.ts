import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Hierarchy } from './mounts.ts';
import type { Beside } from './roots.ts';
import { shownName } from './shown.ts';

/**
 * Finds them among the hierarchies of v1. `claim` returns the server's directory in one. A hierarchy in which that cannot be is
 * left out.
 */
export function findBeside(
  hierarchies: readonly Hierarchy[],
  claim: (hierarchy: Hierarchy) => string | undefined,
): Beside {
  const beside: Beside = {};
  for (const hierarchy of hierarchies) {
    for (const controller of ['cpuacct', 'cpuset'] as const) {
      if (!hierarchy.controllers.includes(controller) || beside[controller]) continue;
      const dir = claim(hierarchy);
      if (dir === undefined || (controller === 'cpuset' && !takeAll(dir))) continue;
      beside[controller] = { version: 1, dir, name: shownName(hierarchy) };
    }
  }
  return beside;
}

/** A cpuset takes no processes before it has cores and memory. */
function takeAll(dir: string): boolean {
  try {
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      writeFileSync(join(dir, file), readFileSync(join(dirname(dir), file), 'latin1').trim(), { flag: 'r+' });
    }
    return true;
  } catch {
    return false;
  }
}
