import type { Checkpoint, Sandbox } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { CheckpointRecord } from '../../metadata/metadata.ts';
import { shownCheckpoint } from '../../metadata/shown.ts';
import { missing } from '../../not-found.ts';
import { resumeAutoCommit } from '../changes/resume-auto-commit.ts';
import { withWorkspace } from '../changes/with-workspace.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';

const MAX_CHECKPOINTS = 100;

/**
 * Freezes the delta, then stores the record: a crash in between leaves a sandbox on top of a layer that no record
 * names.
 */
export function createCheckpoint(
  id: string,
  name: string,
  intent: string | undefined,
  context: SandboxContext,
): Promise<Checkpoint> {
  return withWorkspace(id, context, async (mount, sandbox) => {
    const { checkpoints = [] } = sandbox.record;
    if (checkpoints.some((each) => each.name === name)) {
      throw new ServiceError('ALREADY_EXISTS', `sandbox ${id} has a checkpoint ${name}`);
    }
    if (checkpoints.length >= MAX_CHECKPOINTS) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `sandbox ${id} has ${MAX_CHECKPOINTS} checkpoints, the maximum`);
    }
    return context.layers.growing(id, async () => {
      const { layer, files, bytes } = await mount.freeze(id, true);
      const created_at = Math.floor(context.clock.now() / 1000);
      const checkpoint = { name, created_at, files, bytes, layer, ...(intent !== undefined && { intent }) };
      // A frozen layer has a journal: from now on a delta without one is damaged.
      await sandbox.update({ checkpoints: [...checkpoints, checkpoint], changed: true }, context.metadata.sandboxes);
      await updateRetainedLayers(sandbox, context);
      return shownCheckpoint(id, checkpoint);
    });
  });
}

/** In the order of their creation. NOT_FOUND: the sandbox. */
export function listCheckpoints(id: string, context: SandboxContext): Checkpoint[] {
  return (context.find(id).record.checkpoints ?? []).map((checkpoint) => shownCheckpoint(id, checkpoint));
}

/** Durable when it resolves; layers that become unneeded are removed in the background. NOT_FOUND: the checkpoint. */
export function deleteCheckpoint(id: string, name: string, context: SandboxContext): Promise<void> {
  return context.change(id, async (sandbox) => {
    const checkpoint = checkpointOf(sandbox, name, 'name');
    const checkpoints = sandbox.record.checkpoints?.filter((each) => each !== checkpoint);
    await sandbox.update({ checkpoints }, context.metadata.sandboxes);
    await updateRetainedLayers(sandbox, context);
    context.reclaimLayers();
  });
}

/**
 * In effect for programs and open files, and durable, when it resolves. Resumes automatic commits that had stopped.
 * NOT_FOUND: the checkpoint.
 */
export function rollback(id: string, name: string, context: SandboxContext): Promise<Sandbox> {
  return withWorkspace(id, context, async (mount, sandbox) => {
    const { layer } = checkpointOf(sandbox, name, 'checkpoint');
    await mount.rollback(id, layer);
    await context.sessions.end(id, `its sandbox was rolled back to the checkpoint ${name}`);
    await resumeAutoCommit(sandbox, context);
    context.reclaimLayers();
    return sandbox.view();
  });
}

/** Throws NOT_FOUND naming `field`. */
export function checkpointOf(sandbox: LiveSandbox, name: string, field: string): CheckpointRecord {
  const found = sandbox.record.checkpoints?.find((each) => each.name === name);
  if (found !== undefined) return found;
  const asked = JSON.stringify(name.slice(0, 200));
  throw missing('checkpoint', name, `${field}: sandbox ${sandbox.id} has no checkpoint ${asked}`);
}

/** From now on the file system counts the layers of checkpoints against the quota. */
function updateRetainedLayers(
  { id, record: { checkpoints = [] } }: LiveSandbox,
  context: SandboxContext,
): Promise<void> {
  return context.platform.mount.setCheckpoints(
    id,
    checkpoints.map(({ layer }) => layer),
  );
}
