import type { WorkspaceSpec } from '../workspaces.ts';
import { DiskShare } from './disk-share.ts';
import { HOME, OwnerShare, WORKSPACE } from './owner-bytes.ts';
import type { Held, Quota } from './usage.ts';

/** What the quota of a delta depends on. */
interface QuotaOwner {
  readonly spec: WorkspaceSpec;
  /** Called with the id when the delta may not grow because the disk has no room. */
  readonly shared: { readonly refused: (id: string) => void };
  /** The other directory of the sandbox; what it has is unknown until it is open. */
  readonly beside?: { readonly isOpen: boolean; readonly room: { readonly held: Held } } | undefined;
}

export function quotaOf(of: QuotaOwner): Quota {
  const { id, delta, maxBytes, maxFiles, ownerBytes, reserve, isHome } = of.spec;
  const disk = reserve ? new DiskShare(delta, reserve, () => of.shared.refused(id)) : undefined;
  const owner = ownerBytes && new OwnerShare(ownerBytes, isHome ? HOME : WORKSPACE);
  const beside = () => (of.beside?.isOpen ? of.beside.room.held : undefined);
  return { maxBytes, maxFiles, owner, disk, beside };
}
