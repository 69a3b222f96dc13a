import type { Reserve } from '../../linux/disk-room.ts';
import { DiskShare } from './disk-share.ts';
import { type OwnerBytes, OwnerShare } from './owner-bytes.ts';
import type { Quota } from './usage.ts';

/** What the specification of a workspace says about its quota. */
export interface QuotaSpec {
  id: string;
  delta: string;
  maxBytes: number;
  maxFiles: number;
  ownerBytes?: OwnerBytes;
  reserve?: Reserve;
}

/** `refused`: called with the id when the delta may not grow because the disk has no room. */
export function quotaOf(spec: QuotaSpec, refused: (id: string) => void): Quota {
  const { id, delta, maxBytes, maxFiles, ownerBytes, reserve } = spec;
  const disk = reserve ? new DiskShare(delta, reserve, () => refused(id)) : undefined;
  return { maxBytes, maxFiles, owner: ownerBytes && new OwnerShare(ownerBytes), disk };
}
