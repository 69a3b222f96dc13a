import type { Sandbox } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { hasJournal } from '../../workspaces/delta/layers/layers-on-disk.ts';
import { autoCommit, commitsItself } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { kindOf } from '../ready/kind.ts';
import type { LiveSandbox, RecordPatch } from '../sandbox.ts';
import { bringUp, deltaOf, endProcesses, takeDown } from './bring-up.ts';
import { markFailed, onExit, reasonOf } from './failure.ts';
import { timeOf } from './gone.ts';

/** RUNNING and durable when it resolves; after a failure it is SANDBOX_ERROR with the reason. */
export function startSandbox(id: string, context: SandboxContext): Promise<Sandbox> {
  return context.change(id, async (sandbox) => {
    if (sandbox.status === 'SANDBOX_RUNNING') return sandbox.view();
    if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(sandbox.record);
    context.platform.ownerDeltas?.requireRoom(sandbox.record.owner_id);
    const { status, reason } = sandbox;
    sandbox.transition('start');
    const user = userOfReady(sandbox, context);
    const up = bringUpOrFail(sandbox, context, user.restore);
    await (context.ready?.creating(up, kindOf(sandbox.record, context)) ?? up);
    try {
      await sandbox.update({}, context.metadata.sandboxes, 'launched');
    } catch (error) {
      await takeDown(sandbox, context.platform);
      user.restore();
      sandbox.transition(status === 'SANDBOX_STOPPED' ? 'stop' : 'failed', reason);
      throw error;
    }
    user.keep();
    if (sandbox.record.checkpoints !== undefined || sandbox.record.origin !== undefined) context.reclaimLayers();
    return sandbox.view();
  });
}

/**
 * Starts a sandbox from SANDBOX_PENDING: to RUNNING, as its record says, or to ERROR and a throw. Call from the
 * sandbox's queue.
 */
export async function launch(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  await bringUpOrFail(sandbox, context);
  sandbox.transition('launched');
}

async function bringUpOrFail(
  sandbox: LiveSandbox,
  context: SandboxContext,
  restoreUser: () => void = () => {},
): Promise<void> {
  try {
    await bringUp(sandbox, context.platform, onExit(sandbox, context));
  } catch (error) {
    restoreUser();
    await markFailed(sandbox, reasonOf(error), context);
    throw error;
  }
}

/**
 * Takes a ready sandbox for the start of one, if there is one, and gives the sandbox its user: no file of a workspace has the
 * number of a user. One of the two must follow: `keep` once the record is stored, or `restore` after a failure, which leaves
 * nothing of the ready one. A workspace that file sessions have attached stays at its place.
 */
function userOfReady(sandbox: LiveSandbox, context: SandboxContext): { keep(): void; restore(): void } {
  const { uid } = sandbox.record;
  const none = { keep() {}, restore() {} };
  if (sandbox.hasWorkspace || sandbox.hasForeignUser) return none;
  const ready = context.ready?.take(kindOf(sandbox.record, context));
  if (ready === undefined) return none;
  sandbox.ready = ready;
  sandbox.changeUser(ready.uid);
  return {
    keep() {
      if (!context.isForeignUser(uid)) context.uids.release(uid);
    },
    restore() {
      sandbox.changeUser(uid);
      context.uids.release(ready.uid);
    },
  };
}

/** Kills every process; the files are kept. The record is stored first: a failure to store it changes nothing. */
export function stopSandbox(id: string, context: SandboxContext): Promise<Sandbox> {
  return context.change(id, async (sandbox) => {
    if (sandbox.status === 'SANDBOX_STOPPED') {
      if (sandbox.record.commit_owed) await autoCommit(sandbox, context);
      return sandbox.view();
    }
    if (sandbox.status !== 'SANDBOX_RUNNING') throw sandbox.refuse();
    await context.platform.descriptors.lend(() => endAndCommit(sandbox, context));
    return sandbox.view();
  });
}

/**
 * Persists commit_owed first, so that a restart finishes the commit. Returns false if the automatic commit failed. Call
 * from the sandbox's queue, while it is RUNNING. `more`: changes of the record that are stored with the stop.
 */
export async function endAndCommit(
  sandbox: LiveSandbox,
  context: SandboxContext,
  more: RecordPatch = {},
): Promise<boolean> {
  const commits = commitsItself(sandbox);
  const changed = await hasJournal(deltaOf(sandbox.id, context.platform.layout));
  const patch = { ...more, ...(commits && { commit_owed: true }), ...(changed && { changed }) };
  await sandbox.update(patch, context.metadata.sandboxes, 'stop');
  // After every process has exited, so that nothing is written any more.
  await endProcesses(sandbox, context.platform, true);
  const committed = !commits || (await autoCommit(sandbox, context));
  await takeDown(sandbox, context.platform);
  return committed;
}

/** The error for a sandbox past its expires_at. */
export function expired({ id, kept, destroy_at }: SandboxRecord): ServiceError {
  const until = destroy_at === 0 ? '' : ` until ${timeOf(destroy_at)}`;
  const advice = kept
    ? `, and was stopped and is kept${until}: give it a new expires_in by UpdateSandbox, then start it`
    : '';
  return new ServiceError('FAILED_PRECONDITION', `sandbox ${id} has expired${advice}`);
}
