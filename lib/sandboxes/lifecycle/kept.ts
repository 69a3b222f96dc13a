import type { SandboxRecord } from '../../metadata/metadata.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** When the cleanup has something to do for a sandbox: it has expired then, or was kept since for long enough. 0: never. */
export function dueAt({ expires_at, kept, destroy_at }: SandboxRecord): number {
  return kept ? destroy_at : expires_at;
}

/** Of the sandboxes that were kept after their expiry: those above `max` for each owner, the first to expire. */
export function keptTooMany(sandboxes: Iterable<LiveSandbox>, max: number): LiveSandbox[] {
  if (max === 0) return [];
  const byOwner = new Map<string, LiveSandbox[]>();
  for (const sandbox of sandboxes) {
    const { owner_id } = sandbox.record;
    const others = byOwner.get(owner_id);
    if (others === undefined) byOwner.set(owner_id, [sandbox]);
    else others.push(sandbox);
  }
  const tooMany = [...byOwner.values()].filter((kept) => kept.length > max);
  return tooMany.flatMap((kept) =>
    kept.sort((a, b) => a.record.expires_at - b.record.expires_at).slice(0, kept.length - max),
  );
}
