import type { SandboxRecord } from '../../metadata/metadata.ts';
import { type Clock, isExpired } from '../host/clock.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** Whether the cleanup has something to do for a sandbox: it has expired, or was kept since for long enough. */
export function isDue({ expires_at, kept, destroy_at }: SandboxRecord, clock: Clock): boolean {
  return isExpired(kept ? destroy_at : expires_at, clock);
}

/** Of the sandboxes that were kept after their expiry: those above `max` for each owner, the first to expire. */
export function keptTooMany(sandboxes: Iterable<LiveSandbox>, max: number): LiveSandbox[] {
  if (max === 0) return [];
  const byOwner = new Map<string, LiveSandbox[]>();
  for (const sandbox of sandboxes) {
    const { kept, owner_id } = sandbox.record;
    if (!kept) continue;
    const others = byOwner.get(owner_id);
    if (others === undefined) byOwner.set(owner_id, [sandbox]);
    else others.push(sandbox);
  }
  const tooMany = [...byOwner.values()].filter((kept) => kept.length > max);
  return tooMany.flatMap((kept) =>
    kept.sort((a, b) => a.record.expires_at - b.record.expires_at).slice(0, kept.length - max),
  );
}
