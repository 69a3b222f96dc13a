/**
 * A mounted cgroup hierarchy. The controllers of a v2 hierarchy are those of its root; on a hybrid host there may be
 * none.
 */
export interface Hierarchy {
  version: 1 | 2;
  mountPoint: string;
  controllers: readonly string[];
}

const unescapeOctal = (field: string) =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/**
 * Parses /proc/self/mountinfo (proc_pid_mountinfo(5)) into hierarchies: pure v1, pure v2 or hybrid. `v2Controllers`
 * returns cgroup.controllers of a mount point.
 */
export function parseHierarchies(mountinfo: string, v2Controllers: (mountPoint: string) => string): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ');
    const mountPoint = unescapeOctal(before?.split(' ')[4] ?? '');
    const [type, , superOptions] = after?.split(' ') ?? [];
    if (found.some((each) => each.mountPoint === mountPoint)) continue;
    if (type === 'cgroup') {
      found.push({ version: 1, mountPoint, controllers: (superOptions ?? '').split(',') });
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
