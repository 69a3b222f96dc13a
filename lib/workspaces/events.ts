import type { BackgroundCopy } from './delta/contents/background-copy.ts';
import type { BackgroundFree } from './delta/contents/background-free.ts';
import type { ToldChanges } from './watching/told-changes.ts';
import type { DamageReport } from './workspaces.ts';

/** Events that the request worker emits to the main thread. */
export type WorkspaceEvent =
  /** The main thread copies a host file, and then calls `copied`. */
  | { kind: 'copy'; copy: BackgroundCopy }
  /** The main thread frees disk space, and then calls `copied` for a truncation. */
  | { kind: 'free'; free: BackgroundFree }
  /** The main thread has the kernel tell programs that watch files. */
  | { kind: 'told'; told: ToldChanges }
  /** The main thread logs the damage, and marks the sandbox as failed if nothing of it can be read. */
  | { kind: 'damaged'; report: DamageReport }
  /** The main thread logs that the sandbox may not grow because the disk has no room. */
  | { kind: 'refused'; id: string };
