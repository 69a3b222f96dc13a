import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmdirSync,
  writeFile,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import type { ResourceLimits } from '../../messages.ts';
import type { ProcessGroup, ProcessGroups } from '../executor/groups.ts';
import { isHostShort } from '../host-error.ts';
import { type LimitWrite, limitWrites, pidsMax } from './limits.ts';
import { CgroupProcessGroup, killTree, readPids } from './process-group.ts';

/** The instance's directory in each hierarchy in use: one for groups, and per limit controller the one that has it. */
export interface CgroupRoots {
  /** v2 (also without controllers) or the v1 freezer. */
  groups: string;
  limits: Readonly<Partial<Record<'memory' | 'cpu' | 'pids', { version: 1 | 2; dir: string }>>>;
}

/** Some milliseconds at most. */
const REMOVED_AT_ONCE = 128;
const VACANT_AT_ONCE = 4;
const AGENT = 'agent';
const COMMANDS = 'commands';

/**
 * One sandbox's cgroups, `<root>/<id>` in each hierarchy that is needed:
 *   agent/         bwrap and the agent; not counted against pids_limit, so that a fork bomb cannot keep the service
 *                  from starting the next runner
 *   commands/<n>/  one runner and whatever its command starts
 * memory and cpu bind at the top and so cover both; on v2 the commands' part has a little less of the memory, so that
 * the kernel, out of it, looks for a process to kill among commands. Made before the first process, removed after the last.
 */
export class SandboxCgroup implements ProcessGroups {
  /** Files a process writes "0" to in order to be inside before it does anything else. */
  readonly entries: readonly string[];
  readonly #groups: string;
  readonly #dirs: readonly string[];
  readonly #roots: CgroupRoots;
  readonly #id: string;
  readonly #pidsLimit: number;
  readonly #commandEntries: readonly string[];
  /** Groups whose runner is gone while something in them lives on. */
  readonly #vacant = new Set<CgroupProcessGroup>();
  #runners = 0;
  /** Kept open: it is read after every command. */
  #oomEvents: number | undefined;

  constructor(roots: CgroupRoots, id: string, resources: ResourceLimits) {
    this.#roots = roots;
    this.#id = id;
    this.#pidsLimit = resources.pids_limit;
    this.#groups = join(roots.groups, id);
    const writes = this.#plan(resources);
    const dirs = new Set([this.#groups, ...writes.map((write) => this.#dir(write.controller))]);
    this.#dirs = [...dirs];
    const split = new Set([this.#groups]);
    const below = writes.filter((write) => write.level !== 'sandbox').map((write) => write.controller);
    for (const controller of below) split.add(this.#dir(controller));
    for (const dir of dirs) {
      mkdirSync(dir);
      if (!split.has(dir)) continue;
      // v2: a limit on commands/ needs the controller handed down; then no process may sit in `dir` itself.
      for (const controller of new Set(below)) {
        if (roots.limits[controller]?.version === 2 && dir === this.#dir(controller)) {
          writeFileSync(join(dir, 'cgroup.subtree_control'), `+${controller}`, { flag: 'r+' });
        }
      }
      mkdirSync(join(dir, AGENT));
      mkdirSync(join(dir, COMMANDS));
    }
    for (const write of writes) this.#apply(write);
    this.entries = this.#dirs.map((dir) => join(dir, split.has(dir) ? AGENT : '', 'cgroup.procs'));
    this.#commandEntries = [...split]
      .filter((dir) => dir !== this.#groups)
      .map((dir) => join(dir, COMMANDS, 'cgroup.procs'));
  }

  /**
   * Says that a process will be moved within some milliseconds (see `addGroup`): a move waits for an RCU grace period,
   * unless another has just been. So `pid`, which is in it already, is moved to where it is, on another thread.
   */
  expectMove(pid: number | undefined): void {
    if (pid !== undefined) writeFile(join(this.#groups, AGENT, 'cgroup.procs'), String(pid), { flag: 'r+' }, () => {});
  }

  basePids(): number[] {
    return readPids(join(this.#groups, AGENT));
  }

  addGroup(name: string): ProcessGroup & { pids(): number[] } {
    this.#removeVacant();
    const group = new CgroupProcessGroup(join(this.#groups, COMMANDS, name), this.#commandEntries);
    const release = () => {
      // The runner no longer counts, whatever it left: else each background process would raise the limit by one.
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
      kill: () => group.kill(),
      release,
    };
  }

  /** A few at a time: there is one for each process that a command left behind, and a sandbox may have thousands. */
  #removeVacant(): void {
    let tries = VACANT_AT_ONCE;
    for (const stale of this.#vacant) {
      if (tries-- === 0) return;
      // To the end of the line, so that the next call tries others.
      this.#vacant.delete(stale);
      if (!stale.remove()) this.#vacant.add(stale);
    }
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
    if (!this.#pidsLimit) return false;
    const dir = join(this.#dir('pids'), COMMANDS);
    const read = (file: string) => Number(readFileSync(join(dir, file), 'latin1'));
    try {
      return read('pids.current') >= read('pids.max');
    } catch {
      return false;
    }
  }

  /** Throws only where there is no descriptor left. */
  kill(): void | Promise<void> {
    const names = () => readdirSync(join(this.#groups, COMMANDS), { withFileTypes: true });
    return killTree(this.#groups, () => [
      AGENT,
      COMMANDS,
      ...names()
        .filter((entry) => entry.isDirectory())
        .map((entry) => join(COMMANDS, entry.name)),
    ]);
  }

  /**
   * False while a process lives in it (or a dying one has not left yet), or where there are so many cgroups that it takes
   * another call. Throws only where there is no descriptor left.
   */
  remove(atOnce = REMOVED_AT_ONCE): boolean {
    if (this.#oomEvents !== undefined) closeQuietly(this.#oomEvents);
    this.#oomEvents = undefined;
    const budget = { left: atOnce };
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
        `resources: this host does not take ${write.file} = ${write.value} (${(error as NodeJS.ErrnoException).code})`,
        [],
        { cause: error },
      );
    }
  }

  /** Throws when one more cannot be told to the kernel. One less can wait for the next. */
  #countRunners(change: 1 | -1): void {
    this.#runners += change;
    if (!this.#pidsLimit) return;
    const value = pidsMax(this.#pidsLimit, this.#runners);
    try {
      writeFileSync(join(this.#dir('pids'), COMMANDS, 'pids.max'), value, { flag: 'r+' });
    } catch (error) {
      if (change > 0) throw error;
    }
  }
}

/**
 * Removes a cgroup directory and those in it, deepest first; false when something lives in one, or `budget` has come to
 * its end. Throws only where there is no descriptor left.
 */
export function removeTree(dir: string, budget = { left: Number.POSITIVE_INFINITY }): boolean {
  try {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (entry.isDirectory() && !removeTree(`${dir}/${entry.name}`, budget)) return false;
    }
    if (budget.left-- <= 0) return false;
    rmdirSync(dir);
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error;
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
  return true;
}

function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {}
}
