import { linkSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { dirname, join } from 'node:path';
import type { ResourceLimits } from '../../contract/messages.ts';
import { errorCode } from '../../linux/errno.ts';
import { AGENT_DIR, JAVA_OPTIONS, ONLINE } from '../executor/places.ts';
import type { OwnerResources } from '../runtime.ts';
import { type CpuTimes, coresOf, cpuinfo, cpuStat, cpuTimes, onlineCores } from './cores.ts';
import type { Machine } from './machine.ts';
import { type MemoryStat, meminfo, memoryStat } from './meminfo.ts';

/** Where a sandbox sees a host path, read-only, or a symbolic link. */
export type ShownPath = { path: string } & ({ source: string; link?: never } | { link: string; source?: never });

/** Where the kernel counts what a sandbox uses. */
export interface Counters {
  memory?: { version: 1 | 2; dir: string } | undefined;
  /** cpu.stat of v2 or cpuacct.stat of v1. */
  cpuTimes?: string | undefined;
}

/** For whom they are. */
export interface ShownSpec {
  resources: ResourceLimits;
  owner?: OwnerResources | undefined;
  /** Its limits may change before its first command. */
  readyOnly?: boolean | undefined;
  /** It cannot see its cgroups, so the options of the Java VM tell of its limits. */
  javaOptions?: boolean | undefined;
}

/** Whether there are limits that could be shown. */
export const hasShown = ({ resources, owner }: ShownSpec): boolean =>
  owner !== undefined || resources.memory_bytes > 0 || resources.cpu_quota > 0;

/** Name, in the directory of all agent directories, of the files that those share. */
const SHARED = 'cpuinfo';

/**
 * Files in place of some of /proc that tell of the limits of a sandbox instead of the machine: of memory, and of as many cores
 * as its quota is worth. They have the limits from the beginning; what is used of them is written again at `refresh`. Each stays
 * the same inode, because the sandbox has it mounted. They are the server's, and the sandbox cannot write them.
 */
export class ShownLimits {
  readonly #dir: string;
  readonly #machine: Machine;
  readonly #counters: () => Counters;
  readonly #owner: OwnerResources | undefined;
  readonly #javaOptions: boolean;
  /** 0: those of the machine are shown. */
  #memory = 0;
  #cores = 0;
  /** Of the last text of each file. */
  readonly #lengths = new Map<string, number>();

  /** Makes the files in the agent directory `dir`. `counters`: asked at each refresh. */
  constructor(dir: string, machine: Machine, spec: ShownSpec, counters: () => Counters) {
    this.#dir = dir;
    this.#machine = machine;
    this.#counters = counters;
    this.#owner = spec.owner;
    this.#javaOptions = spec.javaOptions === true;
    this.#take(spec.resources);
    this.#putLimits(spec.readyOnly !== true);
  }

  /** Host paths by the paths in the sandbox. */
  get files(): readonly { source: string; path: string }[] {
    const names = [...(this.#memory > 0 ? ['meminfo'] : []), ...(this.#cores > 0 ? ['stat', 'cpuinfo'] : [])];
    return names.map((name) => ({ source: join(this.#dir, name), path: `/proc/${name}` }));
  }

  /** Where a sandbox that has no other /sys finds the number of its cores. */
  get links(): readonly { link: string; path: string }[] {
    const names = this.#cores > 0 ? ['online', 'possible', 'present'] : [];
    return names.map((name) => ({ link: `${AGENT_DIR}/${ONLINE}`, path: `/sys/devices/system/cpu/${name}` }));
  }

  /** For one with `readyOnly`, before its first command: other values of the same kinds of limits. */
  change(resources: ResourceLimits): void {
    const [memory, cores] = [this.#memory, this.#cores];
    this.#take(resources);
    if (cores !== this.#cores || memory !== this.#memory) this.#putLimits(false);
  }

  /** Soon, so that the caller does not wait. Later if many sandboxes ask. */
  readonly refresh = (): void => {
    if (this.#memory + this.#cores > 0) this.#machine.refreshes.ask(this.#refreshQuietly);
  };

  readonly #refreshQuietly = (): void => {
    try {
      this.#refreshNow();
    } catch {
      // The sandbox has ended, or no descriptor is free: what was known last stays.
    }
  };

  #refreshNow(): void {
    const { memory, cpuTimes: times } = this.#counters();
    const read = (file: string) => readFileSync(file, 'latin1');
    const spent = cpuTimes(times === undefined ? '' : read(times));
    if (memory === undefined) {
      this.#putUsage(0, new Map(), spent);
      return;
    }
    const used = read(join(memory.dir, memory.version === 2 ? 'memory.current' : 'memory.usage_in_bytes'));
    this.#putUsage(Number(used), memoryStat(read(join(memory.dir, 'memory.stat')), memory.version), spent);
  }

  #take({ memory_bytes, cpu_quota }: ResourceLimits): void {
    const quota = lower(cpu_quota, this.#owner?.cpu_quota ?? 0);
    this.#memory = Math.min(lower(memory_bytes, this.#owner?.memory_bytes ?? 0), this.#machine.memoryBytes);
    this.#cores = quota === 0 ? 0 : coresOf(quota, this.#machine.cores);
  }

  /** `forGood`: the list of cores, of a kilobyte for each, is shared with other sandboxes. */
  #putLimits(forGood: boolean): void {
    const text = () => cpuinfo(this.#machine.cpuinfo, this.#cores);
    if (this.#cores > 0 && forGood) {
      linkShared(join(dirname(this.#dir), SHARED), String(this.#cores), text, join(this.#dir, 'cpuinfo'));
    } else if (this.#cores > 0) this.#put('cpuinfo', text());
    if (this.#cores > 0) this.#put(ONLINE, onlineCores(this.#cores));
    if (this.#javaOptions) this.#put(JAVA_OPTIONS, javaOptions(this.#memory, this.#cores));
    this.#putUsage(0, new Map(), { user: 0, system: 0 });
  }

  #putUsage(used: number, stat: MemoryStat, times: CpuTimes): void {
    if (this.#memory > 0) this.#put('meminfo', meminfo(this.#memory, used, stat));
    if (this.#cores > 0) this.#put('stat', cpuStat(this.#cores, times, uptime(), this.#machine.bootTime));
  }

  /** A program that reads it meanwhile never finds it empty, unless the new text is shorter. */
  #put(name: string, text: string): void {
    const length = this.#lengths.get(name);
    const flag = length === undefined || text.length < length ? 'w' : 'r+';
    this.#lengths.set(name, text.length);
    writeFileSync(join(this.#dir, name), text, { flag, mode: 0o644 });
  }
}

/** Text of a file of arguments of java(1). */
function javaOptions(memory: number, cores: number): string {
  const options = [memory > 0 ? `-XX:MaxRAM=${memory}` : '', cores > 0 ? `-XX:ActiveProcessorCount=${cores}` : ''];
  return `${options.join('\n')}\n`;
}

/** The lower one of two limits of which 0 is none. */
const lower = (one: number, other: number): number => (one === 0 || other === 0 ? one + other : Math.min(one, other));

/** A file of `dir` appears whole or not at all. */
function linkShared(dir: string, name: string, text: () => string, to: string): void {
  const from = join(dir, name);
  try {
    linkSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    mkdirSync(dir, { recursive: true, mode: 0o711 });
    writeFileSync(`${from}.new`, text(), { mode: 0o644 });
    renameSync(`${from}.new`, from);
    linkSync(from, to);
  }
}
