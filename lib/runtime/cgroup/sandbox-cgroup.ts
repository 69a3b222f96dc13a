import { mkdirSync, openSync, readdirSync, readFileSync, readSync, writeFile, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ResourceLimits } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { isHostShort } from '../../host-error.ts';
import { closeQuietly } from '../../linux/close.ts';
import { errorCode } from '../../linux/errno.ts';
import { FoundProcess } from '../../linux/found-process.ts';
import type { ProcessGroup, ProcessGroups } from '../executor/groups.ts';
import type { Counters } from '../shown/shown-limits.ts';
import { GroupNames } from './group-names.ts';
import { type LimitWrite, limitWrites, pidsMax, requestedLimits } from './limits.ts';
import { CgroupProcessGroup, killTree, readPids } from './process-group.ts';
import { removeTree } from './remove-tree.ts';
import type { CgroupRoots } from './roots.ts';
import { countersOf, type ShownCgroup, shownCgroups } from './shown.ts';

interface CgroupGroup extends ProcessGroup {
  pids(): number[];
}

/** Cgroups removed in one call, which takes a few milliseconds. */
const REMOVALS_PER_CALL = 128;
/** Empty cgroups of ended commands that each new command tries to remove. */
const REMOVALS_PER_COMMAND = 4;
const AGENT = 'agent';
const COMMANDS = 'commands';

/**
 * The cgroups of one sandbox, `<root>/<id>` in each required hierarchy:
 *
 * - agent/: bwrap and the agent. Not subject to pids_limit, so that a fork bomb cannot prevent the start of the next
 *   runner.
 * - commands/N/: one runner and all processes of its command.
 *
 * The memory and cpu limits apply at the top and cover both parts. On v2 the commands' part has slightly less memory,
 * so that the OOM killer selects a process of a command. The cgroups are created before the first process and removed
 * after the last.
 */
export class SandboxCgroup implements ProcessGroups {
  /** Files to which a process writes "0" to enter the cgroups before it does anything else. */
  readonly entries: readonly string[];
  readonly #groups: string;
  readonly #dirs: readonly string[];
  readonly #roots: CgroupRoots;
  readonly #id: string;
  #resources: ResourceLimits;
  readonly #commandEntries: readonly string[];
  /** Groups whose runner has exited while other processes in them are alive. */
  readonly #vacant = new Set<CgroupProcessGroup>();
  readonly #names = new GroupNames();
  #runners = 0;
  /** Kept open because it is read after every command. */
  #oomEvents: number | undefined;

  /** `entered`: controllers whose cgroup above has limits, so that the sandbox must be in it without limits of its own. */
  constructor(roots: CgroupRoots, id: string, resources: ResourceLimits, entered: readonly ('memory' | 'cpu')[] = []) {
    this.#roots = roots;
    this.#id = id;
    this.#resources = resources;
    this.#groups = join(roots.groups, id);
    const writes = this.#plan(resources);
    const used = [...entered, ...writes.map(({ controller }) => controller)];
    const { cpuacct, cpuset } = used.length > 0 ? (roots.beside ?? {}) : {};
    const times = cpuacct === undefined ? [] : [join(cpuacct.dir, id)];
    const dirs = new Set([this.#groups, ...used.map((controller) => this.#dir(controller)), ...times]);
    this.#dirs = [...dirs];
    const split = new Set([this.#groups]);
    const below = writes.filter((write) => write.level !== 'sandbox').map((write) => write.controller);
    for (const controller of below) split.add(this.#dir(controller));
    for (const dir of dirs) {
      mkdirSync(dir);
      if (!split.has(dir)) continue;
      // v2: a limit on commands/ needs the controller in cgroup.subtree_control, and then no process may be in `dir`
      // itself.
      for (const controller of new Set(below)) {
        if (roots.limits[controller]?.version === 2 && dir === this.#dir(controller)) {
          writeFileSync(join(dir, 'cgroup.subtree_control'), `+${controller}`, { flag: 'r+' });
        }
      }
      mkdirSync(join(dir, AGENT));
      mkdirSync(join(dir, COMMANDS));
    }
    for (const write of writes) this.#apply(write);
    const first = this.#dirs.map((dir) => join(dir, split.has(dir) ? AGENT : ''));
    this.entries = [...first, ...(cpuset ? [cpuset.dir] : [])].map((dir) => join(dir, 'cgroup.procs'));
    this.#commandEntries = [...split]
      .filter((dir) => dir !== this.#groups)
      .map((dir) => join(dir, COMMANDS, 'cgroup.procs'));
  }

  /**
   * Announces that a process will be moved within some milliseconds (see `addGroup`). A move waits for an RCU grace
   * period unless another move has just happened; so `pid`, which is in the agent's cgroup already, is moved to the
   * same cgroup on another thread.
   */
  expectMove(pid: number | undefined): void {
    if (pid !== undefined) writeFile(join(this.#groups, AGENT, 'cgroup.procs'), String(pid), { flag: 'r+' }, () => {});
  }

  /**
   * Replaces the limits while only the agent runs. Throws if the same kinds of limits are not in force already, or if the host
   * does not take a value; then some of them may be in force.
   */
  setLimits(resources: ResourceLimits): void {
    const before = this.#resources;
    const kinds = (of: ResourceLimits) => requestedLimits(of).join();
    if (kinds(resources) !== kinds(before)) throw new Error('other kinds of limits');
    const writes = this.#plan(resources).filter(({ file }) => file !== 'pids.max');
    const [memory, others] = [writes.filter(isOfMemory), writes.filter((write) => !isOfMemory(write))];
    // v1: the limit with swap must never be below the one without, so the order depends on whether the limit grows.
    if (resources.memory_bytes > before.memory_bytes) memory.reverse();
    const old = new Map(this.#plan(before).map((write) => [`${write.level}/${write.file}`, write.value]));
    for (const write of [...memory, ...others]) {
      if (old.get(`${write.level}/${write.file}`) === write.value) continue;
      // v1: with the old quota, the new period may be a share above that of the owner, which the kernel refuses.
      if (write.file === 'cpu.cfs_period_us') this.#apply({ ...write, file: 'cpu.cfs_quota_us', value: '-1' });
      this.#apply(write);
    }
    this.#resources = resources;
    if (resources.pids_limit !== before.pids_limit) this.#countRunners(0);
  }

  basePids(): number[] {
    return readPids(join(this.#groups, AGENT));
  }

  commandProcesses(): FoundProcess[] {
    const pids = this.#commandGroups().flatMap((name) => readPids(join(this.#groups, name)));
    return pids.map((pid) => new FoundProcess(pid));
  }

  addGroup(): CgroupGroup {
    this.#removeVacant();
    const name = this.#names.take();
    const dir = join(this.#groups, COMMANDS, `${name}`);
    const group = new CgroupProcessGroup(dir, this.#commandEntries, () => this.#names.give(name));
    const release = () => {
      // The runner no longer counts, whatever processes it left; otherwise each background process would raise the
      // limit by one.
      this.#countRunners(-1);
      if (!group.remove()) this.#vacant.add(group);
    };
    try {
      this.#countRunners(1);
    } catch (error) {
      release();
      throw error;
    }
    return {
      add: (pid) => group.add(pid),
      pids: () => group.pids(),
      holdsOnly: (pid) => group.holdsOnly(pid),
      signal: (signal, except) => group.signal(signal, except),
      kill: () => group.kill(),
      release,
    };
  }

  /** Bounded per call: there is one group for each process that a command left behind, possibly thousands. */
  #removeVacant(): void {
    let tries = REMOVALS_PER_COMMAND;
    for (const stale of this.#vacant) {
      if (tries-- === 0) return;
      // Moved to the end of the list, so that the next call tries others.
      this.#vacant.delete(stale);
      if (!stale.remove()) this.#vacant.add(stale);
    }
  }

  get shown(): readonly ShownCgroup[] {
    return shownCgroups(this.#roots, this.#id, this.#dirs);
  }

  get counters(): Counters {
    return countersOf(this.#roots, this.#id, this.#dirs);
  }

  oomKills(): number {
    const memory = this.#roots.limits.memory;
    const dir = memory && join(memory.dir, this.#id);
    if (!dir || !this.#dirs.includes(dir)) return 0;
    try {
      this.#oomEvents ??= openSync(join(dir, memory.version === 2 ? 'memory.events' : 'memory.oom_control'), 'r');
      const buffer = Buffer.allocUnsafe(512);
      const text = buffer.toString('latin1', 0, readSync(this.#oomEvents, buffer, 0, buffer.length, 0));
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    } catch {
      return 0;
    }
  }

  atPidsLimit(): boolean {
    if (!this.#resources.pids_limit) return false;
    const dir = join(this.#dir('pids'), COMMANDS);
    const read = (file: string) => Number(readFileSync(join(dir, file), 'latin1'));
    try {
      return read('pids.current') >= read('pids.max');
    } catch {
      return false;
    }
  }

  /** See killTree. */
  kill(): void | Promise<void> {
    return killTree(this.#groups, () => [AGENT, COMMANDS, ...this.#commandGroups()]);
  }

  #commandGroups(): string[] {
    const entries = readdirSync(join(this.#groups, COMMANDS), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(COMMANDS, name));
  }

  /**
   * Returns false while a process is in it (including one that is exiting), or if there are more cgroups than one call
   * removes. Throws only if no descriptor is free.
   */
  remove(most = REMOVALS_PER_CALL): boolean {
    if (this.#oomEvents !== undefined) closeQuietly(this.#oomEvents);
    this.#oomEvents = undefined;
    const budget = { left: most };
    return this.#dirs.map((dir) => removeTree(dir, budget)).every(Boolean);
  }

  #plan(resources: ResourceLimits): LimitWrite[] {
    return (['memory', 'cpu', 'pids'] as const).flatMap((controller) =>
      limitWrites(resources, this.#roots.limits[controller]?.version ?? 1).filter(
        (write) => write.controller === controller,
      ),
    );
  }

  #dir(controller: 'memory' | 'cpu' | 'pids'): string {
    return join(this.#roots.limits[controller]?.dir ?? '', this.#id);
  }

  #apply(write: LimitWrite): void {
    const dir = join(this.#dir(write.controller), { sandbox: '', commands: COMMANDS, agent: AGENT }[write.level]);
    try {
      writeFileSync(join(dir, write.file), write.value, { flag: 'r+' });
    } catch (error) {
      if (isHostShort(error)) throw error;
      if (write.optional) return;
      throw new ServiceError(
        'FAILED_PRECONDITION',
        `resources: this host does not take ${write.file} = ${write.value} (${errorCode(error)})`,
        [],
        { cause: error },
      );
    }
  }

  /** Throws if an increment cannot be written. A decrement may be delayed until the next write. */
  #countRunners(change: 1 | 0 | -1): void {
    this.#runners += change;
    const { pids_limit: limit } = this.#resources;
    if (!limit) return;
    const value = pidsMax(limit, this.#runners);
    try {
      writeFileSync(join(this.#dir('pids'), COMMANDS, 'pids.max'), value, { flag: 'r+' });
    } catch (error) {
      if (change >= 0) throw error;
    }
  }
}

const isOfMemory = ({ controller }: LimitWrite): boolean => controller === 'memory';
