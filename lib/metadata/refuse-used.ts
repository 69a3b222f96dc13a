import { ServiceError } from '../errors.ts';

const MAX_NAMED = 50;

/** Throws FAILED_PRECONDITION if sandboxes use the codebase. */
export function refuseUsed(id: string, sandboxes: readonly string[]): void {
  if (sandboxes.length === 0) return;
  // A message must fit into a protocol's header; the details contain all names.
  const named = sandboxes.slice(0, MAX_NAMED).join(', ');
  const more = sandboxes.length > MAX_NAMED ? ` and ${sandboxes.length - MAX_NAMED} more` : '';
  throw new ServiceError('FAILED_PRECONDITION', `codebase ${id} is used by sandboxes: ${named}${more}`, [
    { sandbox_ids: [...sandboxes] },
  ]);
}
