import type { FoundProcess } from '../../linux/found-process.ts';

/**
 * The host's means to kill one command and nothing else. Implemented with cgroups; a launcher without them passes
 * undefined, and the executor falls back to information of the shells (weaker: see Runner). Operations whose time grows
 * with the number of processes return a promise and run in steps.
 */
export interface ProcessGroup {
  /** Moves a host process in; its later children start inside. Throws or rejects if the process has exited. */
  add(pid: number): void | Promise<void>;
  /** Whether `pid` is the only process inside, not counting zombies. */
  holdsOnly(pid: number): boolean | Promise<boolean>;
  /** Host pids of the processes inside, not counting zombies. Empty after `release`. */
  pids(): number[] | Promise<number[]>;
  /** Sends a signal to all processes inside but `except`. Returns their number. Nothing after `release`. */
  signal(signal: NodeJS.Signals, except: number): number | Promise<number>;
  /** Sends SIGKILL to all processes inside, however fast they fork. After `release`: to those that are left. */
  kill(): void | Promise<void>;
  /**
   * The runner has exited. The group is removed after its last process, at the latest with the sandbox. Never throws.
   */
  release(): void;
}

export interface ProcessGroups {
  /** Host pids of the agent's own part, where new runners start. */
  basePids(): number[] | Promise<number[]>;
  /** Processes in all groups, also those that were released. May throw or reject. */
  commandProcesses(): FoundProcess[] | Promise<FoundProcess[]>;
  /** Cleans up if it throws. */
  addGroup(): ProcessGroup;
  /** Number of processes that the memory limit has killed so far. Never throws. */
  oomKills(): number;
  /** Whether the limit of processes is reached. Never throws. */
  atPidsLimit(): boolean;
}
