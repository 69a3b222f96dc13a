import { Postponed } from '../fuse/filesystem.ts';

interface Pausable {
  readonly heldBy: number;
  /** The cause by which requests are postponed while a commit of the workspace is made; 0: it is not paused. */
  readonly pausedBy: number;
}

/** Throws Postponed while a long operation runs on the workspace. */
export function requireNotHeld({ heldBy }: Pick<Pausable, 'heldBy'>): void {
  if (heldBy !== 0) throw new Postponed(heldBy);
}

/** For programs and clients: throws Postponed also while the workspace is paused. Returns the workspace. */
export function requireRunning<W extends Pausable>(workspace: W): W {
  requireNotHeld(workspace);
  if (workspace.pausedBy !== 0) throw new Postponed(workspace.pausedBy);
  return workspace;
}
