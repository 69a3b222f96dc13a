import { ServiceError } from '../../errors.ts';
import type { OwnerQuota } from '../../metadata/metadata.ts';
import type { SandboxContext } from '../context.ts';

/**
 * The limit of the owner's sandboxes (`sandbox.max_per_user`, or its own), which counts those that are neither destroyed
 * nor expired, including those being created. Its refusal is RESOURCE_EXHAUSTED.
 */
export function quotaOf(owner: string, { clock, settings: { owners } }: SandboxContext): OwnerQuota {
  const { sandboxes: most } = owners.of(owner);
  return {
    most,
    now: clock.now(),
    refusal: (count) =>
      new ServiceError(
        'RESOURCE_EXHAUSTED',
        `owner ${JSON.stringify(owner)} has ${count} sandboxes, the most is ${most} (${owners.placeOf(owner, 'sandboxes')})`,
      ),
  };
}
