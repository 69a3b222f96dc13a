import type { Descriptors } from '../../descriptors.ts';
import type { Shares } from '../../shares.ts';
import type { FifoPool } from '../executor/fifo-pool.ts';
import type { ReadPaces } from '../executor/read-pace.ts';
import type { Machine } from '../shown/machine.ts';
import type { TerminalLimit } from '../terminal-limit/terminal-limit.ts';
import type { NetworkMode } from './container.ts';
import type { Daemon } from './daemon.ts';
import type { OwnContainers } from './own-containers.ts';
import type { OwnerCgroups } from './owner-cgroups.ts';
import type { SeccompProfile } from './seccomp-profile.ts';
import type { DockerTimes } from './times.ts';
import type { ImageUserFiles } from './user-files.ts';
import type { ContainerWatch } from './watch.ts';

/** State shared by all sandboxes of one server. */
export interface Shared {
  daemon: Daemon;
  containers: OwnContainers;
  owners: OwnerCgroups;
  watch: ContainerWatch;
  times: DockerTimes;
  instance: string;
  networkMode: NetworkMode;
  enableNetworking: boolean;
  tmpBytes: number;
  seccomp: SeccompProfile;
  userFiles: ImageUserFiles;
  /** Directory of this instance's process groups where v2 has no controllers. */
  groupsName: string;
  /** Parent of the agent directories. */
  agentDirs: string;
  fifos: FifoPool;
  scratch: Buffer;
  paces: ReadPaces;
  machine: Machine;
  /** See `ExecutorHost`. */
  stopGraceMs: number;
  room: Shares<object>;
  descriptors: Descriptors;
  terminals: TerminalLimit;
}
