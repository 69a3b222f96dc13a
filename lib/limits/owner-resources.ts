import { createHash } from 'node:crypto';
import type { OwnerResources } from '../runtime/runtime.ts';
import type { OwnerLimitSource } from './stored-limits.ts';

/** What all sandboxes of an owner may use together; undefined: there is no limit. */
export function ownerResources(owners: OwnerLimitSource, ownerId: string): OwnerResources | undefined {
  const { memory_bytes, cpu_quota } = owners.of(ownerId);
  if (memory_bytes === 0 && cpu_quota === 0) return undefined;
  // An owner's name can have any characters, and be longer than a file name.
  const group = `owner-${createHash('sha256').update(ownerId).digest('hex').slice(0, 24)}`;
  return { group, memory_bytes, cpu_quota };
}
