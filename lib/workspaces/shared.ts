import type { Steps } from '../fuse/connection/steps.ts';
import type { Notifier } from '../fuse/filesystem.ts';
import type { Errno } from '../linux/errno.ts';
import type { BaseTrees } from './base/base-trees.ts';
import type { Clock } from './clock.ts';
import type { HostSyncs } from './delta/contents/host-syncs.ts';
import type { LargeCopies } from './delta/contents/large-copies.ts';
import type { LargeFrees } from './delta/contents/large-frees.ts';
import type { FrozenLayers } from './delta/layers/frozen-layers.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { HostFiles } from './nodes/host-files.ts';
import type { NodeTable } from './nodes/node-table.ts';
import type { StatAhead } from './nodes/stat-ahead.ts';
import type { ChangeTeller } from './watching/told-changes.ts';
import type { DamageReport } from './workspaces.ts';

/** The state shared by all workspaces of a mount. */
export interface Shared<Workspace> {
  readonly nodes: NodeTable;
  readonly files: HostFiles;
  readonly bases: BaseTrees;
  readonly ahead: StatAhead;
  readonly notifier: Notifier;
  readonly teller: Pick<ChangeTeller, 'changed' | 'ruled'>;
  readonly clock: Clock;
  readonly frozen: FrozenLayers;
  readonly copies: LargeCopies;
  readonly frees: LargeFrees;
  readonly syncs: HostSyncs;
  /** Called when FSYNC requests that wait for this cause are to be answered. */
  readonly answer: (cause: number, error: Errno | undefined) => void;
  readonly memory: MemoryBudget;
  /** Called once for each damaged file, and once for each damaged workspace. */
  readonly damaged: (report: DamageReport) => void;
  /** Called when a workspace may not grow because the disk has no room. */
  readonly refused: (id: string) => void;
  /** Runs steps between requests, with nothing waiting for them. */
  readonly background: (steps: Steps<unknown>) => void;
  /** Runs steps while the workspace is held and returns the cause to wait for. Absent: steps run at once. */
  readonly startHeld?: ((workspace: Workspace, steps: Steps<unknown>) => number) | undefined;
}
