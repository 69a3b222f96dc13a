export interface KeptVersion {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** What it added to the store. */
  readonly bytes: number;
}

export interface KeepVersions {
  /** Of so many newest versions all are kept. */
  readonly newest: number;
  /** So many at most, if they are not older than this. */
  readonly recent: number;
  readonly recentMs: number;
  /** Of all but the head. */
  readonly bytes: number;
}

export const KEEP_VERSIONS: Omit<KeepVersions, 'bytes'> = { newest: 100, recent: 1000, recentMs: 7 * 24 * 3_600_000 };

/**
 * How many of a codebase's versions are kept, newest first: the oldest ones go. The head, which comes first, stays in any case.
 * Tags and pins keep others besides.
 */
export function keptVersions(versions: Iterable<KeptVersion>, now: number, keep: KeepVersions): number {
  let [kept, bytes] = [0, 0];
  for (const version of versions) {
    if (kept > 0) {
      bytes += version.bytes;
      const isRecent = kept < keep.recent && now - version.createdAt <= keep.recentMs;
      if (bytes > keep.bytes || !(kept < keep.newest || isRecent)) break;
    }
    kept++;
  }
  return kept;
}
