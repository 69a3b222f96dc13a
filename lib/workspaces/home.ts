import { Postponed } from '../fuse/filesystem.ts';
import { requireNotHeld } from './pause.ts';
import type { HomeSpec, WorkspaceSpec } from './workspaces.ts';

/** The name of a HOME, beside that of its workspace: of neither an id nor a place, which have no dot. */
export const homeName = (name: string): string => `${name}.home`;

/** By which name a workspace is found while it is attached. */
export const keyOf = ({ id, isHome }: WorkspaceSpec): string => (isHome ? homeName(id) : id);

/**
 * A HOME is a workspace of no codebase, in which the sandbox may do everything. It counts for the quota of the workspace
 * `of`, which it is attached and detached with.
 */
export function homeOf(of: WorkspaceSpec, { delta, base }: HomeSpec): WorkspaceSpec {
  const { id, place, uid, maxBytes, maxFiles, ownerBytes, reserve, maxIndexBytes } = of;
  const everything = { pattern: '**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 } as const;
  return {
    ...{ id, codebaseId: '', base, delta, uid, rules: [everything], maxBytes, maxFiles, isHome: true },
    ...(place !== undefined && { place: homeName(place) }),
    ...(ownerBytes !== undefined && { ownerBytes }),
    ...(reserve !== undefined && { reserve }),
    ...(maxIndexBytes !== undefined && { maxIndexBytes }),
  };
}

interface Openable {
  readonly isOpen: boolean;
  readonly heldBy: number;
  /** Opens it. */
  readonly tree: unknown;
}

/**
 * Call before a workspace is opened: what its sandbox has in the other directory counts from its first use on. Throws
 * Postponed. A damaged one fails its own requests only.
 */
export function openBeside({ beside }: { beside?: Openable | undefined }): void {
  if (beside === undefined || beside.isOpen) return;
  requireNotHeld(beside);
  try {
    void beside.tree;
  } catch (error) {
    if (error instanceof Postponed) throw error;
  }
}
