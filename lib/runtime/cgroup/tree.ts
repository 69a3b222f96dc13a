import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { ResourceLimits } from '../../messages.ts';
import { CONTROLLER_OF, requestedLimits } from './limits.ts';
import { type Hierarchy, parseHierarchies, parseMembership } from './mounts.ts';
import { killTree, readPids } from './process-group.ts';
import { type CgroupRoots, removeTree, SandboxCgroup } from './sandbox-cgroup.ts';

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;
/** How long reclaim waits for killed processes to leave; a process stuck in the kernel is reported by the caller. */
const RECLAIM_MS = 5000;
/** Where the server and its neighbours go when they are in the way of controllers (see `enable`). */
const LEAF = 'paddock-host';
/** Of moving them there: meanwhile they may start others. */
const MOVE_ROUNDS = 20;

/** The cgroups of one server instance: a directory of its name in every hierarchy it uses. */
export class CgroupTree {
  readonly #name: string;
  #roots: CgroupRoots | undefined;
  /** By sandbox: cgroups of its last run that would not go, whatever their names. */
  readonly #left = new Map<string, SandboxCgroup>();

  /** `instance`: unique to the state directory, the same after a restart, so that leftovers are found by name. */
  constructor(instance: string) {
    this.#name = `paddock-${instance}`;
  }

  /** Finds or makes the instance's directories. Without any, limits and groups of their own are not to be had. */
  open(): void {
    this.#roots = findRoots(this.#name);
  }

  get available(): boolean {
    return this.#roots !== undefined;
  }

  /** The limits this host can enforce, by controller. */
  get controllers(): readonly string[] {
    return Object.keys(this.#roots?.limits ?? {});
  }

  /** UNAVAILABLE while processes of the sandbox's last run live. */
  vacate(id: string): void {
    if (!/^\w[\w.-]*$/.test(id)) throw new ServiceError('INTERNAL', 'a sandbox id must be a plain file name');
    const gone = this.#left.get(id)?.remove(Number.POSITIVE_INFINITY) ?? true;
    if (!gone || !this.#directories().every((root) => removeTree(join(root, id)))) {
      throw new ServiceError('UNAVAILABLE', 'processes of the sandbox’s last run have not ended yet');
    }
    this.#left.delete(id);
  }

  /** What a sandbox that is over could not take away. */
  leave(id: string, cgroup: SandboxCgroup): void {
    this.#left.set(id, cgroup);
  }

  /** `name`: of nothing that is there. undefined when the host offers no cgroups and none is needed. */
  create(name: string, resources: ResourceLimits): SandboxCgroup | undefined {
    for (const limit of requestedLimits(resources)) {
      if (!this.#roots?.limits[CONTROLLER_OF[limit]]) {
        throw new ServiceError(
          'FAILED_PRECONDITION',
          `resources.${limit} cannot be enforced on this host: no writable cgroup with the ${CONTROLLER_OF[limit]} controller`,
        );
      }
    }
    if (!this.#roots) return undefined;
    try {
      return new SandboxCgroup(this.#roots, name, resources);
    } catch (error) {
      this.#clear(name);
      throw error;
    }
  }

  /** Kills and removes what an earlier server left under this instance's name. */
  async reclaim(): Promise<void> {
    const deadline = Date.now() + RECLAIM_MS;
    for (const root of this.#directories()) {
      for (const entry of readdirSync(root, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        const dir = join(root, entry.name);
        while (!removeTree(dir) && Date.now() < deadline) {
          await killTree(dir, () => descendants(dir));
          await sleep(5);
        }
      }
    }
  }

  /** After the last sandbox: takes the instance's directories away. */
  close(): void {
    for (const root of this.#directories()) removeTree(root);
    this.#roots = undefined;
  }

  /** What is left of one that could not be made goes at the next launch or start. */
  #clear(name: string): void {
    try {
      for (const root of this.#directories()) removeTree(join(root, name));
    } catch {}
  }

  #directories(): string[] {
    if (!this.#roots) return [];
    return [...new Set([this.#roots.groups, ...Object.values(this.#roots.limits).map((limit) => limit.dir)])];
  }
}

function descendants(dir: string, prefix = ''): string[] {
  return readdirSync(join(dir, prefix), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => [join(prefix, entry.name), ...descendants(dir, join(prefix, entry.name))]);
}

function findRoots(name: string): CgroupRoots | undefined {
  const hierarchies = parseHierarchies(readFileSync('/proc/self/mountinfo', 'utf8'), (mountPoint) =>
    readFileSync(join(mountPoint, 'cgroup.controllers'), 'latin1'),
  );
  const membership = parseMembership(readFileSync('/proc/self/cgroup', 'utf8'));
  const limits: { [name in (typeof CONTROLLERS)[number]]?: { version: 1 | 2; dir: string } } = {};
  let groups: string | undefined;
  const v2 = hierarchies.find((each) => each.version === 2);
  if (v2) {
    const dir = claim(v2, name, startedIn(membership.get('') ?? '/'));
    groups = dir;
    for (const controller of dir ? CONTROLLERS : []) {
      if (dir && handDown(dir, controller) === undefined) limits[controller] = { version: 2, dir };
    }
  }
  for (const hierarchy of hierarchies.filter((each) => each.version === 1)) {
    const wanted = CONTROLLERS.filter((each) => hierarchy.controllers.includes(each) && !limits[each]);
    const freezer = !groups && hierarchy.controllers.includes('freezer');
    if (wanted.length === 0 && !freezer) continue;
    const dir = claim(hierarchy, name, membership.get(hierarchy.controllers[0]!) ?? '/');
    if (!dir) continue;
    for (const controller of wanted) limits[controller] = { version: 1, dir };
    if (freezer) groups = dir;
  }
  return groups === undefined ? undefined : { groups, limits };
}

/** The instance's directory at the hierarchy's top or, where that is not ours to write, below the server's own cgroup. */
function claim(hierarchy: Hierarchy, name: string, own: string): string | undefined {
  for (const parent of new Set([hierarchy.mountPoint, join(hierarchy.mountPoint, own)])) {
    const dir = join(parent, name);
    try {
      mkdirSync(dir, { recursive: true });
      if (hierarchy.version === 2) enable(parent, hierarchy.controllers);
      if (existsSync(join(dir, 'cgroup.procs'))) return dir;
    } catch {}
  }
  return undefined;
}

/** Lets `dir`'s children use the controller, once its parent does. Answers the error code, undefined for success. */
function handDown(dir: string, controller: string): string | undefined {
  try {
    writeFileSync(join(dir, 'cgroup.subtree_control'), `+${controller}`, { flag: 'r+' });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

/** Pure: the cgroup a server was started in. Whoever starts it may have been moved to the leaf by an earlier one. */
export const startedIn = (own: string): string => (basename(own) === LEAF ? dirname(own) : own);

/**
 * Hands the wanted controllers to `parent`'s children. Where the server itself sits in `parent` (a container's cgroup
 * namespace, a service's delegated cgroup) the kernel refuses with EBUSY: a v2 cgroup has processes or hands
 * controllers down, not both. Then all processes in it move to a leaf first.
 */
function enable(parent: string, controllers: readonly string[]): void {
  for (const controller of CONTROLLERS.filter((each) => controllers.includes(each))) {
    for (let round = 0; handDown(parent, controller) === 'EBUSY' && round < MOVE_ROUNDS; round++) {
      moveAll(parent, join(parent, LEAF));
    }
  }
}

function moveAll(from: string, leaf: string): void {
  mkdirSync(leaf, { recursive: true });
  for (const pid of readPids(from)) {
    try {
      writeFileSync(join(leaf, 'cgroup.procs'), String(pid), { flag: 'r+' });
    } catch {
      // It ended meanwhile.
    }
  }
}
