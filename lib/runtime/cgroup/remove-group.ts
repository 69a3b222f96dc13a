import { setTimeout as delay } from 'node:timers/promises';
import type { Descriptors } from '../../descriptors.ts';
import type { SandboxCgroup } from './sandbox-cgroup.ts';

/**
 * Removes the cgroups of a sandbox, and kills what is in them until then. Returns false if processes are left at the deadline,
 * or if the server is out of descriptors until then.
 */
export async function removeGroup(cgroup: SandboxCgroup, descriptors: Descriptors, deadline: number): Promise<boolean> {
  for (let wait = 1; ; wait *= 2) {
    try {
      if (descriptors.use(() => cgroup.remove())) return true;
      await descriptors.use(() => cgroup.kill());
    } catch {
      // A descriptor may become free shortly.
    }
    if (Date.now() >= deadline) return false;
    await delay(Math.min(wait, 50));
  }
}
