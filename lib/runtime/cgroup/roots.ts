/** A directory of the server in a hierarchy. */
export interface ControllerRoot {
  version: 1 | 2;
  dir: string;
  /** See `ShownCgroup`; absent: sandboxes do not see it. */
  name?: string;
}

/** Hierarchies of v1 without limits. The Java VM looks for limits only where both are mounted. */
export interface Beside {
  /** Each sandbox has a cgroup in it: its CPU times. */
  cpuacct?: ControllerRoot;
  /** All sandboxes are in the directory itself: the cores and the memory of the machine. */
  cpuset?: ControllerRoot;
}

/** The instance's directory in each hierarchy: one for groups, and for each limit the one that has its controller. */
export interface CgroupRoots {
  /** A v2 hierarchy (with or without controllers) or the v1 freezer. */
  groups: string;
  limits: Readonly<Partial<Record<'memory' | 'cpu' | 'pids', ControllerRoot>>>;
  beside?: Beside;
}
