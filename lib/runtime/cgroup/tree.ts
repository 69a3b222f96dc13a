import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ResourceLimits } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';
import type { OwnerResources } from '../runtime.ts';
import { findBeside } from './beside.ts';
import { CONTROLLER_OF, requestedLimits } from './limits.ts';
import { type Hierarchy, mountedHierarchies, parseMembership } from './mounts.ts';
import { openOwnerGroup, removeOwnerGroup, withinOwner } from './owner-group.ts';
import { killTree, readPids } from './process-group.ts';
import { Removals } from './removals.ts';
import { removeTree } from './remove-tree.ts';
import type { CgroupRoots, ControllerRoot } from './roots.ts';
import { SandboxCgroup } from './sandbox-cgroup.ts';
import { shownDirectories, shownName } from './shown.ts';

const CONTROLLERS = ['memory', 'cpu', 'pids'] as const;
/**
 * Cgroup to which the server and its neighbours are moved if they prevent the delegation of controllers (see `enable`).
 */
const LEAF = 'paddock-host';
/** Maximum rounds of that move, since the processes may fork in the meantime. */
const MOVE_ROUNDS = 20;

/** The cgroups of one server instance: a directory with its name in every hierarchy in use. */
export class CgroupTree {
  readonly #name: string;
  #roots: CgroupRoots | undefined;
  /** By sandbox id: cgroups of its last run that could not be removed. */
  readonly #left = new Map<string, SandboxCgroup>();

  /** `instance`: unique for the state directory and the same after a restart, so that leftovers are found by name. */
  constructor(instance: string) {
    this.#name = `paddock-${instance}`;
  }

  /** Finds or creates the instance's directories. Without them there are no limits and no process groups. */
  open(): void {
    this.#roots = findRoots(this.#name);
  }

  get available(): boolean {
    return this.#roots !== undefined;
  }

  /** The controllers whose limits this host can enforce. */
  get controllers(): readonly string[] {
    return Object.keys(this.#roots?.limits ?? {});
  }

  /** Whether the limits of memory or CPU are those of cgroup v2. */
  get isUnified(): boolean {
    const { memory, cpu } = this.#roots?.limits ?? {};
    return memory?.version === 2 || cpu?.version === 2;
  }

  /** The directories with the cgroups that sandboxes see. */
  get shownDirectories(): readonly string[] {
    return this.#roots === undefined ? [] : shownDirectories(this.#roots);
  }

  /** Throws UNAVAILABLE while processes of the sandbox's last run are alive. `owner`: of the next run. */
  vacate(id: string, owner?: OwnerResources): void {
    if (!/^\w[\w.-]*$/.test(id)) throw new ServiceError('INTERNAL', 'a sandbox id must be a plain file name');
    const gone = this.#left.get(id)?.remove(Number.POSITIVE_INFINITY) ?? true;
    const below = owner === undefined ? [id] : [id, join(owner.group, id)];
    // To look costs a tenth of an attempt that fails, and almost never is there anything.
    const left = this.#directories()
      .flatMap((root) => below.map((path) => join(root, path)))
      .filter(existsSync);
    if (!gone || !left.every((dir) => removeTree(dir))) {
      throw new ServiceError('UNAVAILABLE', 'processes of the sandbox’s last run have not ended yet');
    }
    this.#left.delete(id);
  }

  /** Takes over cgroups that a stopped sandbox could not remove. */
  leave(id: string, cgroup: SandboxCgroup): void {
    this.#left.set(id, cgroup);
  }

  /**
   * Creates the cgroups of a sandbox, below those that it shares with the other sandboxes of its owner. `name` must not
   * exist. Returns undefined if the host has no cgroups and no limit is requested.
   */
  create(name: string, resources: ResourceLimits, owner?: OwnerResources): SandboxCgroup | undefined {
    for (const limit of requestedLimits(resources)) {
      if (!this.#roots?.limits[CONTROLLER_OF[limit]]) {
        throw new ServiceError(
          'FAILED_PRECONDITION',
          `resources.${limit} cannot be enforced on this host: no writable cgroup with the ${CONTROLLER_OF[limit]} controller`,
        );
      }
    }
    if (!this.#roots) {
      if (owner === undefined) return undefined;
      throw new ServiceError('FAILED_PRECONDITION', 'the owner’s limits cannot be enforced: no writable cgroups');
    }
    try {
      if (owner === undefined) return new SandboxCgroup(this.#roots, name, resources);
      const roots = openOwnerGroup(this.#roots, owner);
      return new SandboxCgroup(roots, name, withinOwner(resources, owner), limited(owner));
    } catch (error) {
      this.#clear(owner === undefined ? name : join(owner.group, name));
      this.leaveGroup(owner);
      throw error;
    }
  }

  /** Removes the cgroups of an owner if none of its sandboxes is left in them. */
  leaveGroup(owner: OwnerResources | undefined): void {
    if (owner !== undefined && this.#roots !== undefined) removeOwnerGroup(this.#roots, owner.group);
  }

  /**
   * Kills and removes everything that an earlier server left under this instance's name. All are killed before any is waited for.
   */
  async reclaim(): Promise<void> {
    const removals = new Removals({ remove: removeTree, kill: (dir) => killTree(dir, () => descendants(dir)) });
    // That of the groups comes first: with the processes in it, those in the others end.
    for (const root of this.#directories()) {
      const entries = readdirSync(root, { withFileTypes: true });
      await removals.removeAll(entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name)));
    }
  }

  /** Removes the instance's directories, after the last sandbox. */
  close(): void {
    for (const root of this.#directories()) removeTree(root);
    this.#roots = undefined;
  }

  /** If creation failed, the remains are removed at the next launch or start. */
  #clear(name: string): void {
    try {
      for (const root of this.#directories()) removeTree(join(root, name));
    } catch {}
  }

  #directories(): string[] {
    if (!this.#roots) return [];
    const { groups, limits, beside = {} } = this.#roots;
    return [...new Set([groups, ...[...Object.values(limits), ...Object.values(beside)].map(({ dir }) => dir)])];
  }
}

function limited({ memory_bytes, cpu_quota }: OwnerResources): ('memory' | 'cpu')[] {
  return [...(memory_bytes > 0 ? (['memory'] as const) : []), ...(cpu_quota > 0 ? (['cpu'] as const) : [])];
}

function descendants(dir: string, prefix = ''): string[] {
  return readdirSync(join(dir, prefix), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => [join(prefix, entry.name), ...descendants(dir, join(prefix, entry.name))]);
}

function findRoots(name: string): CgroupRoots | undefined {
  const hierarchies = mountedHierarchies();
  const membership = parseMembership(readFileSync('/proc/self/cgroup', 'utf8'));
  const limits: { [name in (typeof CONTROLLERS)[number]]?: ControllerRoot } = {};
  let groups: string | undefined;
  const v2 = hierarchies.find((each) => each.version === 2);
  if (v2) {
    const dir = claim(v2, name, startedIn(membership.get('') ?? '/'));
    groups = dir;
    for (const controller of dir ? CONTROLLERS : []) {
      if (dir && enableController(dir, controller) === undefined)
        limits[controller] = { version: 2, dir, name: shownName(v2) };
    }
  }
  for (const hierarchy of hierarchies.filter((each) => each.version === 1)) {
    const wanted = CONTROLLERS.filter((each) => hierarchy.controllers.includes(each) && !limits[each]);
    const freezer = !groups && hierarchy.controllers.includes('freezer');
    if (wanted.length === 0 && !freezer) continue;
    const dir = claim(hierarchy, name, membership.get(hierarchy.controllers[0]!) ?? '/');
    if (!dir) continue;
    for (const controller of wanted) limits[controller] = { version: 1, dir, name: shownName(hierarchy) };
    if (freezer) groups = dir;
  }
  if (groups === undefined) return undefined;
  const others = hierarchies.filter((each) => each.version === 1 && limits.memory?.version === 1);
  const beside = findBeside(others, (each) => claim(each, name, membership.get(each.controllers[0]!) ?? '/'));
  return { groups, limits, beside };
}

/**
 * Creates the instance's directory at the hierarchy's root or, if that is not writable, below the server's own cgroup.
 */
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

/**
 * Enables the controller for the children of `dir`, once its parent provides it. Returns the error code, or undefined
 * for success.
 */
function enableController(dir: string, controller: string): string | undefined {
  try {
    writeFileSync(join(dir, 'cgroup.subtree_control'), `+${controller}`, { flag: 'r+' });
    return undefined;
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
}

/**
 * The cgroup in which a server was started. Its parent process may have been moved to the leaf by an earlier server.
 */
export const startedIn = (own: string): string => (basename(own) === LEAF ? dirname(own) : own);

/**
 * Enables the controllers for the children of `parent`. If the server itself is in `parent` (a container's cgroup
 * namespace, a delegated cgroup of a service), the kernel refuses with EBUSY: a v2 cgroup cannot have both processes
 * and enabled controllers ("no internal processes", https://docs.kernel.org/admin-guide/cgroup-v2.html). Then all its
 * processes are moved to a leaf first.
 */
function enable(parent: string, controllers: readonly string[]): void {
  for (const controller of CONTROLLERS.filter((each) => controllers.includes(each))) {
    for (let round = 0; enableController(parent, controller) === 'EBUSY' && round < MOVE_ROUNDS; round++) {
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
      // It has exited.
    }
  }
}
