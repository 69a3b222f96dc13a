import { accessSync, constants, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceLimits } from '../../contract/messages.ts';
import type { Descriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import { errorCode } from '../../linux/errno.ts';
import type { FoundProcess } from '../../linux/found-process.ts';
import { type Hierarchy, mountedHierarchies, parseMembership } from '../cgroup/mounts.ts';
import { killTree, readPids } from '../cgroup/process-group.ts';
import { removeTree } from '../cgroup/remove-tree.ts';
import type { CgroupRoots } from '../cgroup/roots.ts';
import { SandboxCgroup } from '../cgroup/sandbox-cgroup.ts';
import type { ProcessGroup, ProcessGroups } from '../executor/groups.ts';
import type { Counters } from '../shown/shown-limits.ts';

/** The position of a container in the cgroup hierarchies, and the directory of its process groups. */
export interface ContainerPlace {
  roots: CgroupRoots;
  /** The container's cgroup with the pids controller: all its processes are in or below it. */
  pids: string;
  memory: { version: 1 | 2; dir: string } | undefined;
}

/** The daemon sets them for the whole container. */
const NO_LIMITS = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0 };
const ENTER_ROUNDS = 100;
const LEAVE_MS = 3000;
const POLL_MS = 5;

/**
 * Finds the place for a container's process groups: below the container's own cgroup, so that Docker's limits still
 * apply; only if the v2 hierarchy has no controllers (hybrid hosts), in a separate directory. Throws
 * FAILED_PRECONDITION if the container is not visible: the daemon is on another machine or in another pid namespace.
 */
export function containerPlace(containerId: string, initPid: number, groupsName: string): ContainerPlace {
  const place = placeIn(mountedHierarchies(), readFileSync(`/proc/${initPid}/cgroup`, 'utf8'), groupsName);
  if (!place?.pids.includes(containerId)) throw new Error('the process is not in the cgroup of its container');
  return place;
}

/**
 * Throws FAILED_PRECONDITION if process groups cannot be created, so that the problem shows before the first sandbox.
 */
export function checkCgroups(): void {
  const pids = mountedHierarchies().find(({ controllers }) => controllers.includes('pids'));
  try {
    if (!pids) throw new Error('no cgroup hierarchy with the pids controller');
    accessSync(pids.mountPoint, constants.W_OK);
  } catch (cause) {
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `docker runtime: cgroups must be writable: ${(cause as Error).message}`,
    );
  }
}

/** For a container whose cgroups this server cannot use. */
export function cannotGroup(cause: unknown): ServiceError {
  const text =
    "docker runtime: the containers' cgroups must be writable here: the server has to run as root on the machine of the " +
    'Docker daemon, in its pid namespace';
  return new ServiceError('FAILED_PRECONDITION', text, [], { cause });
}

/** Removes the groups of an earlier server that are not below a container's cgroup. */
export async function clearGroups(groupsName: string): Promise<void> {
  for (const { mountPoint, version } of mountedHierarchies()) {
    if (version === 2) await clearTree(join(mountPoint, groupsName));
  }
}

/** Parses /proc/PID/cgroup as seen from the host. */
export function placeIn(
  hierarchies: readonly Hierarchy[],
  cgroup: string,
  groupsName: string,
): ContainerPlace | undefined {
  const membership = parseMembership(cgroup);
  const of = (controller: string) => {
    const hierarchy = hierarchies.find((each) => each.controllers.includes(controller));
    const path = hierarchy && membership.get(hierarchy.version === 2 ? '' : controller);
    return path === undefined ? undefined : { version: hierarchy!.version, dir: join(hierarchy!.mountPoint, path) };
  };
  const pids = of('pids');
  const freezer = of('freezer');
  if (!pids) return undefined;
  const v2 = hierarchies.find(({ version }) => version === 2);
  const groups = pids.version === 2 ? pids.dir : v2 ? join(v2.mountPoint, groupsName) : freezer?.dir;
  return groups === undefined
    ? undefined
    : { roots: { groups, limits: { pids } }, pids: pids.dir, memory: of('memory') };
}

/** Like SandboxCgroup, but for a container that Docker has already put into its cgroups. */
export class ContainerCgroup implements ProcessGroups {
  readonly #place: ContainerPlace;
  readonly #sandbox: SandboxCgroup;
  readonly #descriptors: Descriptors;

  private constructor(place: ContainerPlace, sandbox: SandboxCgroup, descriptors: Descriptors) {
    this.#place = place;
    this.#sandbox = sandbox;
    this.#descriptors = descriptors;
  }

  /**
   * Moves the agent's processes in before the container gets its first command, so that all later processes start
   * inside.
   */
  static async enter(
    place: ContainerPlace,
    id: string,
    { pids_limit }: ResourceLimits,
    descriptors: Descriptors,
  ): Promise<ContainerCgroup> {
    const { groups, limits } = place.roots;
    mkdirSync(groups, { recursive: true });
    await clearTree(join(groups, id));
    if (limits.pids?.version === 2 && pids_limit > 0) enablePidsController(place.pids);
    const limited = { ...NO_LIMITS, pids_limit };
    const cgroup = new ContainerCgroup(place, new SandboxCgroup(place.roots, id, limited), descriptors);
    try {
      cgroup.#enterAll();
    } catch (error) {
      await cgroup.#discard();
      throw error;
    }
    return cgroup;
  }

  #enterAll(): void {
    for (let round = 0; round < ENTER_ROUNDS; round++) {
      const inside = new Set(this.basePids());
      const outside = pidsBelow(this.#place.pids).filter((pid) => !inside.has(pid));
      if (outside.length === 0) return;
      for (const pid of outside) for (const file of this.#sandbox.entries) move(pid, file);
    }
    throw new ServiceError('FAILED_PRECONDITION', 'image: its /bin/sh starts processes of its own without end');
  }

  /** Never rejects: what remains is removed when the server starts again. */
  async #discard(): Promise<void> {
    try {
      await this.#descriptors.use(() => this.kill());
      await this.remove();
    } catch {
      // No descriptor is free.
    }
  }

  basePids(): number[] {
    return this.#sandbox.basePids();
  }

  commandProcesses(): FoundProcess[] {
    return unlessGone(() => this.#sandbox.commandProcesses(), []);
  }

  /** Every process of the container, whoever started it there. */
  allPids(): number[] {
    return pidsBelow(this.#place.pids);
  }

  /** While only the agent runs: see `SandboxCgroup.setLimits`. The daemon has set the limits of the container before. */
  setLimits({ pids_limit }: ResourceLimits): void {
    this.#sandbox.setLimits({ ...NO_LIMITS, pids_limit });
  }

  /** On v1 the CPU times of a container are not known. */
  get counters(): Counters {
    const { memory } = this.#place;
    return { memory, ...(memory?.version === 2 && { cpuTimes: join(memory.dir, 'cpu.stat') }) };
  }

  addGroup(): ProcessGroup {
    const group = this.#sandbox.addGroup();
    return {
      add: (pid) => group.add(pid),
      holdsOnly: (pid) => unlessGone(() => group.holdsOnly(pid), true),
      pids: () => unlessGone(() => group.pids(), []),
      signal: (signal, except) => unlessGone(() => group.signal(signal, except), 0),
      kill: () => unlessGone(() => group.kill(), undefined),
      release: () => group.release(),
    };
  }

  oomKills(): number {
    const { memory } = this.#place;
    if (!memory) return 0;
    const file = join(memory.dir, memory.version === 2 ? 'memory.events' : 'memory.oom_control');
    try {
      return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, 'latin1'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  }

  atPidsLimit(): boolean {
    return this.#sandbox.atPidsLimit();
  }

  /** See killTree. */
  kill(): void | Promise<void> {
    return unlessGone(() => this.#sandbox.kill(), undefined);
  }

  /** Must follow `kill`. Returns false if a process does not exit. */
  async remove(): Promise<boolean> {
    const deadline = Date.now() + LEAVE_MS;
    while (!this.#descriptors.use(() => this.#sandbox.remove())) {
      if (Date.now() > deadline) return false;
      await this.#descriptors.use(() => this.kill());
      await delay(POLL_MS);
    }
    return true;
  }
}

/**
 * The daemon removes a container's cgroups when it ends, possibly at any moment: ENOENT before the open, ENODEV after
 * it.
 */
function unlessGone<T>(access: () => T, otherwise: T): T {
  try {
    return access();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENODEV') return otherwise;
    throw error;
  }
}

/** v2: a cgroup with processes cannot enable controllers, so its processes are moved to a leaf. */
function enablePidsController(dir: string): void {
  const leaf = join(dir, 'paddock-boot');
  mkdirSync(leaf, { recursive: true });
  for (let round = 0; round < ENTER_ROUNDS; round++) {
    const pids = readPids(dir);
    if (pids.length === 0) break;
    for (const pid of pids) move(pid, join(leaf, 'cgroup.procs'));
  }
  writeFileSync(join(dir, 'cgroup.subtree_control'), '+pids', { flag: 'r+' });
}

/** ESRCH: it has just exited. */
function move(pid: number, file: string): void {
  try {
    writeFileSync(file, String(pid), { flag: 'r+' });
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

/** The pids in and below a cgroup directory. */
export function pidsBelow(dir: string): number[] {
  const below = readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...readPids(dir), ...below.flatMap(({ name }) => pidsBelow(join(dir, name)))];
}

/** Kills all processes in and below a cgroup directory and removes it. Processes that do not exit keep it. */
export async function clearTree(dir: string): Promise<void> {
  await unlessGone(() => killTree(dir, () => descendants(dir)), undefined)?.catch(() => {});
  removeTree(dir);
}

function descendants(dir: string, prefix = ''): string[] {
  return readdirSync(join(dir, prefix), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => [join(prefix, name), ...descendants(dir, join(prefix, name))]);
}
