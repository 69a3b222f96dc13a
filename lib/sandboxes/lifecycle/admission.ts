import { ServiceError } from '../../errors.ts';
import { type Clock, isExpired } from '../host/clock.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Enforces `sandbox.max_per_user`, which counts the owner's sandboxes that are neither destroyed nor expired, including
 * those being created. The new one must be counted before the next await. Throws RESOURCE_EXHAUSTED.
 */
export function checkQuota(owner: string, sandboxes: Iterable<LiveSandbox>, max: number, clock: Clock): void {
  if (max === 0) return;
  let count = 0;
  for (const { record } of sandboxes) {
    if (record.owner_id === owner && !isExpired(record.expires_at, clock)) count++;
  }
  if (count < max) return;
  throw new ServiceError(
    'RESOURCE_EXHAUSTED',
    `owner ${JSON.stringify(owner)} has ${count} sandboxes, the most is ${max} (sandbox.max_per_user)`,
  );
}
