import { ServiceError } from '../../errors.ts';
import type { OwnerLimitSource } from '../../limits/stored-limits.ts';
import { type Clock, isExpired } from '../host/clock.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Enforces the limit of the owner's sandboxes (`sandbox.max_per_user`, or its own), which counts the owner's sandboxes that are neither destroyed nor expired, including
 * those being created. The new one must be counted before the next await. Throws RESOURCE_EXHAUSTED.
 */
export function checkQuota(
  owner: string,
  sandboxes: Iterable<LiveSandbox>,
  owners: OwnerLimitSource,
  clock: Clock,
): void {
  const { sandboxes: max } = owners.of(owner);
  if (max === 0) return;
  let count = 0;
  for (const { record } of sandboxes) {
    if (record.owner_id === owner && !isExpired(record.expires_at, clock)) count++;
  }
  if (count < max) return;
  throw new ServiceError(
    'RESOURCE_EXHAUSTED',
    `owner ${JSON.stringify(owner)} has ${count} sandboxes, the most is ${max} (${owners.placeOf(owner, 'sandboxes')})`,
  );
}
