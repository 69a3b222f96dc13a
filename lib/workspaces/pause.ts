import { Postponed } from '../fuse/filesystem.ts';

/**
 * What waits while a commit of a workspace is made: renames of directories only, or everything that programs and clients ask for.
 * Only the kernel's own reads and writes of pages go on then, for which other system calls may wait.
 */
export type Paused = 'renames' | 'everything';

export interface Pause {
  readonly paused: Paused;
  readonly cause: number;
}

interface Pausable {
  readonly heldBy: number;
  readonly pause: Pause | undefined;
}

/** Throws Postponed while a long operation runs on the workspace. */
export function requireNotHeld({ heldBy }: Pick<Pausable, 'heldBy'>): void {
  if (heldBy !== 0) throw new Postponed(heldBy);
}

/** For programs and clients: throws Postponed also while everything is paused. Returns the workspace. */
export function requireRunning<W extends Pausable>(workspace: W): W {
  requireNotHeld(workspace);
  if (workspace.pause?.paused === 'everything') throw new Postponed(workspace.pause.cause);
  return workspace;
}

/** Throws Postponed while no directory may be renamed. */
export function requireRenames({ pause }: Pick<Pausable, 'pause'>): void {
  if (pause !== undefined) throw new Postponed(pause.cause);
}
