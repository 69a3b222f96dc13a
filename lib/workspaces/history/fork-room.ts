import { ServiceError } from '../../errors.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';

/**
 * Throws RESOURCE_EXHAUSTED if a fork of the present state, or of a checkpoint (its layer; '': the present state),
 * would need layers with more garbage than the quota. What the sandbox removed or overwrote stays in layers shared with
 * forks and counts for none of them, so each fork must start with a bounded amount of it.
 */
export function* requireForkRoom({ delta, spec }: LayeredWorkspace, checkpoint: string): Steps<void> {
  const most = spec.maxBytes;
  const remains = most === 0 ? undefined : yield* delta.layers.findingRemainsAbove(most, checkpoint);
  if (remains === undefined) return;
  throw new ServiceError(
    'RESOURCE_EXHAUSTED',
    `the layers that sandbox ${spec.id} shares with forks hold ${remains} bytes that it removed or overwrote, and it can be ` +
      `forked while these are at most ${most} bytes (sandbox.max_delta_bytes): destroy other forks of it, and try again while it is running`,
  );
}
