import { ServiceError } from '../../errors.ts';
import { type Clock, isExpired } from '../host/clock.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * `sandbox.max_per_user`: counted are the owner's sandboxes not yet destroyed or expired, also those being made. Only
 * a limit when the new one is counted before the next await.
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
