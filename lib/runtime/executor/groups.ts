/**
 * What the executor needs of the host to end one command and nothing else. Implemented with cgroups; a launcher that
 * has none passes undefined and the executor falls back to what the shells can tell (weaker: see Runner).
 */
export interface ProcessGroup {
  /** Moves a host process in; what it starts from then on is born inside. Throws when the process is gone. */
  add(pid: number): void;
  /** Host pids inside, zombies not counted. */
  pids(): number[];
  /** SIGKILL to everything inside, however fast it forks. */
  kill(): void;
  /** Its runner is gone for good. The group itself goes with the last process in it, at the latest with the sandbox. */
  release(): void;
}

export interface ProcessGroups {
  /** Host pids of the agent's own part, where new runners are born. */
  basePids(): number[];
  addGroup(name: string): ProcessGroup;
  /** How many processes the memory limit has killed so far. */
  oomKills(): number;
  /** True when no further process may be made. */
  atPidsLimit(): boolean;
}
