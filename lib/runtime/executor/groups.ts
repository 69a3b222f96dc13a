/**
 * What the executor needs of the host to end one command and nothing else. Implemented with cgroups; a launcher that
 * has none passes undefined and the executor falls back to what the shells can tell (weaker: see Runner). What takes
 * longer the more processes there are answers with a promise, and does it piece by piece.
 */
export interface ProcessGroup {
  /** Moves a host process in; what it starts from then on is born inside. Throws when the process is gone. */
  add(pid: number): void;
  /** Whether nothing but `pid` is inside, zombies not counted. */
  holdsOnly(pid: number): boolean | Promise<boolean>;
  /** SIGKILL to everything inside, however fast it forks. */
  kill(): void | Promise<void>;
  /**
   * Its runner is gone for good. The group itself goes with the last process in it, at the latest with the sandbox.
   * Never throws.
   */
  release(): void;
}

export interface ProcessGroups {
  /** Host pids of the agent's own part, where new runners are born. */
  basePids(): number[] | Promise<number[]>;
  /** Leaves nothing when it throws. */
  addGroup(name: string): ProcessGroup;
  /** How many processes the memory limit has killed so far. Never throws. */
  oomKills(): number;
  /** True when no further process may be made. Never throws. */
  atPidsLimit(): boolean;
}
