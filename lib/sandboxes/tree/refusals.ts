import { type ByteString, quote, toText } from '../../byte-string.ts';
import { ServiceError } from '../../errors.ts';
import type { Committed } from '../../trees/algebra/commit-options.ts';

const NAMED = 5;
/** The most that a refusal tells. */
const TOLD = 1000;

/** What `commit` made. Throws ABORTED and FAILED_PRECONDITION. */
export function requireCommitted(outcome: Committed): Extract<Committed, { outcome: 'committed' }> {
  if (outcome.outcome === 'conflicts') throw inConflict(outcome.conflicts);
  if (outcome.outcome === 'blocked')
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `nothing is committed: ${quote(outcome.path)} is a directory on one side and not on the other; commit it with all below it`,
    );
  return outcome;
}

function inConflict(conflicts: readonly ByteString[]): ServiceError {
  const named = conflicts.slice(0, NAMED).map((path) => quote(path));
  const more = conflicts.length > named.length ? ` and ${conflicts.length - named.length} more` : '';
  return new ServiceError(
    'ABORTED',
    `nothing is committed: the codebase has another version than the sandbox started from of ${named.join(', ')}${more}`,
    [{ conflicts: conflicts.slice(0, TOLD).map(toText) }],
  );
}
