import type { Codebase } from '../contract/messages.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { CodebaseRecord } from '../metadata/metadata.ts';
import { shownCodebase } from '../metadata/shown.ts';
import { diskError } from './disk-errors.ts';
import type { Contents } from './totals.ts';

/** What a codebase in use knows of its totals. */
interface KnownTotals {
  readonly lastTotals: Readonly<Contents> | undefined;
  readonly hasCurrentTotals: boolean;
  readonly revision: string;
}

/** `inUse`: absent if it is not. `kept`: those in the record; undefined until those of an earlier release are counted. */
export function withTotals(
  record: CodebaseRecord,
  inUse: KnownTotals | undefined,
  kept: CodebaseRecord['contents'],
): Codebase {
  const totals = inUse?.lastTotals ?? kept;
  const { files, bytes } = totals ?? { files: 0, bytes: 0 };
  const status_reason = totals === undefined ? 'the files are not counted yet' : '';
  const totals_outdated = !(inUse?.hasCurrentTotals ?? kept?.isExact);
  const revision = inUse?.revision ?? (kept?.isExact ? (kept.revision ?? '') : '');
  return { ...shownCodebase(record), file_count: files, total_size: bytes, status_reason, totals_outdated, revision };
}

/** In a list, where a damaged codebase must not affect the others. undefined: it was deleted meanwhile. */
export function damagedCodebase(record: CodebaseRecord | undefined, error: unknown, log: Log): Codebase | undefined {
  if (record === undefined) return undefined;
  const converted = diskError(error);
  if (!(converted instanceof ServiceError)) {
    log.error('files of a codebase could not be read', { codebase_id: record.id, err: error });
  }
  const status_reason = converted instanceof ServiceError ? converted.message : 'internal error';
  return { ...shownCodebase(record), file_count: 0, total_size: 0, status_reason, totals_outdated: true };
}

/** undefined: there may have been changes since they were kept. */
export function exactBytes(record: CodebaseRecord | undefined): number | undefined {
  return record?.contents?.isExact ? record.contents.bytes : undefined;
}
