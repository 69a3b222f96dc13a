import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { isHostShort } from '../../host-error.ts';
import { mountedHierarchies } from '../cgroup/mounts.ts';
import { openOwnerGroup } from '../cgroup/owner-group.ts';
import type { CgroupRoots } from '../cgroup/roots.ts';
import type { OwnerResources } from '../runtime.ts';
import { clearTree, pidsBelow } from './container-cgroup.ts';
import { noOwnerLimits } from './default-parent.ts';

const FILE = 'docker-cgroup-parent';

/** The cgroup of one owner, in use until `leave`. */
export interface OwnerCgroup {
  /** For HostConfig.CgroupParent. */
  readonly path: string;
  /**
   * Whether the container is in the cgroup to which the limits were written. The daemon creates a missing parent without
   * limits, so each container is checked after its start. Throws only if a resource of the host is exhausted.
   */
  holds(containerId: string, initPid: number): boolean;
  /** Removes the cgroup with its last container. Never throws; the second call does nothing. */
  leave(): void;
}

/**
 * The cgroups of owners whose sandboxes have limits together: `<parent>/<name>/<group>`, where `parent` is the cgroup in
 * which the daemon puts containers by default, so that limits of its administrator apply to them too. The daemon creates
 * the containers' cgroups below them.
 */
export class OwnerCgroups {
  readonly #name: string;
  readonly #file: string;
  #parent: string | undefined;
  /** Containers in each group: one that is being created has no cgroup yet, which alone would keep the group. */
  readonly #users = new Map<string, number>();

  /** `name`: unique for the state directory. The parent is stored in `stateDir`, so that the next server finds remains. */
  constructor(name: string, stateDir: string) {
    this.#name = name;
    this.#file = join(stateDir, FILE);
  }

  /**
   * Creates the owner's cgroup or writes its limits again. `findParent` returns the daemon's default parent; it is asked
   * once. Throws FAILED_PRECONDITION if the limits cannot be enforced.
   */
  async enter(owner: OwnerResources, findParent: () => Promise<string>): Promise<OwnerCgroup> {
    const parent = this.#parent ?? (await findParent());
    this.#keep(parent);
    const { group } = owner;
    let dirs: Map<string, number>;
    try {
      const { limits } = openOwnerGroup(this.#roots(parent), owner);
      dirs = new Map(Object.values(limits).map(({ dir }) => [dir, statSync(dir).ino]));
    } catch (error) {
      if (!this.#users.has(group)) this.#remove(parent, group);
      throw error;
    }
    this.#users.set(group, (this.#users.get(group) ?? 0) + 1);
    let left = false;
    return {
      path: join(parent, this.#name, group),
      holds: (containerId, initPid) => [...dirs].every(([dir, ino]) => isIn(dir, ino, containerId, initPid)),
      leave: () => {
        if (left) return;
        left = true;
        const users = (this.#users.get(group) ?? 1) - 1;
        if (users > 0) this.#users.set(group, users);
        else {
          this.#users.delete(group);
          this.#remove(parent, group);
        }
      },
    };
  }

  /** Removes all groups, also those of an earlier server, with the processes in them. No sandbox may be running. */
  async clear(): Promise<void> {
    const parent = this.#parent ?? this.#stored();
    this.#parent = undefined;
    if (parent === undefined) return;
    for (const dir of this.#directories(parent)) if (existsSync(dir)) await clearTree(dir);
  }

  /** The directories of this instance where the daemon's default parent has the controllers. */
  #roots(parent: string): CgroupRoots {
    const limits: { [name in 'memory' | 'cpu']?: { version: 1 | 2; dir: string } } = {};
    for (const { version, mountPoint, controllers } of mountedHierarchies()) {
      for (const controller of ['memory', 'cpu'] as const) {
        if (limits[controller] || !controllers.includes(controller)) continue;
        const dir = join(mountPoint, parent, this.#name);
        try {
          mkdirSync(dir, { recursive: true });
          if (version === 2) writeFileSync(join(dir, 'cgroup.subtree_control'), `+${controller}`, { flag: 'r+' });
        } catch (cause) {
          if (isHostShort(cause)) throw cause;
          throw noOwnerLimits(`the server cannot create cgroups in ${join(mountPoint, parent)}`, cause);
        }
        limits[controller] = { version, dir };
      }
    }
    const groups = limits.memory ?? limits.cpu;
    if (groups === undefined) throw noOwnerLimits('this host has no cgroups for memory and CPU');
    return { groups: groups.dir, limits };
  }

  #keep(parent: string): void {
    if (this.#parent === parent) return;
    if (this.#stored() !== parent) writeFileSync(this.#file, `${parent}\n`, { mode: 0o600 });
    this.#parent = parent;
  }

  #stored(): string | undefined {
    if (!existsSync(this.#file)) return undefined;
    const parent = readFileSync(this.#file, 'utf8').trim();
    return parent.startsWith('/') && normalize(parent) === parent ? parent : undefined;
  }

  /** In all hierarchies: runc also creates the parents of a container in those that have no limits of the owner. */
  #directories(parent: string): string[] {
    return mountedHierarchies().map(({ mountPoint }) => join(mountPoint, parent, this.#name));
  }

  #remove(parent: string, group: string): void {
    try {
      for (const dir of this.#directories(parent)) removeEmpty(join(dir, group));
    } catch {
      // No descriptor is free: the group is used again, or removed when the server ends.
    }
  }
}

function isIn(dir: string, ino: number, containerId: string, initPid: number): boolean {
  try {
    return statSync(dir).ino === ino && pidsBelow(join(dir, containerId)).includes(initPid);
  } catch (error) {
    if (isHostShort(error)) throw error;
    return false;
  }
}

function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It does not exist, or a container that could not be removed yet is in it.
  }
}
