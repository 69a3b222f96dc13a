import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toText } from '../../byte-string.ts';
import { type MountInfo, readMountsSync } from '../../linux/mountinfo.ts';

/**
 * A mounted cgroup hierarchy. The controllers of a v2 hierarchy are those of its root; on a hybrid host there may be
 * none.
 */
export interface Hierarchy {
  version: 1 | 2;
  mountPoint: string;
  controllers: readonly string[];
}

/** The hierarchies that are mounted where this process sees them. Throws if a v2 hierarchy cannot be read. */
export function mountedHierarchies(): Hierarchy[] {
  return findHierarchies(readMountsSync(), (mountPoint) =>
    readFileSync(join(mountPoint, 'cgroup.controllers'), 'latin1'),
  );
}

/**
 * The cgroup hierarchies among these mounts: pure v1, pure v2 or hybrid. `v2Controllers` returns cgroup.controllers of a
 * mount point. See cgroups(7).
 */
export function findHierarchies(
  mounts: readonly MountInfo[],
  v2Controllers: (mountPoint: string) => string,
): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const { mountPoint: bytes, type, superOptions } of mounts) {
    const mountPoint = toText(bytes);
    if (found.some((each) => each.mountPoint === mountPoint)) continue;
    if (type === 'cgroup') {
      found.push({ version: 1, mountPoint, controllers: superOptions });
    } else if (type === 'cgroup2') {
      found.push({ version: 2, mountPoint, controllers: v2Controllers(mountPoint).split(/\s+/).filter(Boolean) });
    }
  }
  return found;
}

/** Parses /proc/self/cgroup into this process's path in each hierarchy; the key '' is the v2 hierarchy. */
export function parseMembership(cgroup: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of cgroup.split('\n')) {
    const match = /^\d+:([^:]*):(.*)$/.exec(line);
    if (match) for (const controller of match[1]!.split(',')) paths.set(controller, match[2]!);
  }
  return paths;
}
