import { ServiceError } from '../../errors.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { NO_ROOM } from '../workspace-error.ts';

/** Throws RESOURCE_EXHAUSTED if the sandbox would exceed its quota, or its owner's limit, with a new checkpoint. */
export function requireRoom({ delta, spec }: LayeredWorkspace): void {
  const more = delta.layers.indexToFreeze;
  if (delta.claims.isAboveOwnersLimit(more)) {
    throw new ServiceError(
      'RESOURCE_EXHAUSTED',
      'with this checkpoint the sandboxes of the owner would keep more bytes than they may together (delta_bytes): ' +
        'delete checkpoints or files',
    );
  }
  if (more > delta.claims.diskRoom) throw new ServiceError('RESOURCE_EXHAUSTED', NO_ROOM);
  if (!delta.claims.isAboveQuota(more)) return;
  const { bytes, files } = delta.claims.used;
  const limit = (most: number) => (most > 0 ? String(most) : 'any number of');
  throw new ServiceError(
    'RESOURCE_EXHAUSTED',
    `with this checkpoint the files, HOME and checkpoints of sandbox ${spec.id} would be ${bytes + more} bytes ` +
      `in ${files} files, and it may have ${limit(spec.maxBytes)} bytes (sandbox.max_delta_bytes) ` +
      `in ${limit(spec.maxFiles)} files (sandbox.max_delta_files): delete checkpoints or files`,
  );
}
