import { readdir } from 'node:fs/promises';
import { isId } from '../../ids.ts';
import type { SandboxRecord } from '../../metadata/metadata.ts';
import { autoCommit } from '../changes/auto-commit.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { each } from '../limiter.ts';
import { LiveSandbox } from '../sandbox.ts';
import { launch } from './start-stop.ts';

/** Leftovers that are removed at a time. */
const CONCURRENCY = 8;

/**
 * Loads all sandboxes from their records and finishes what a crash interrupted: a delta without a record belongs to a
 * sandbox that was being created or destroyed. After a start without any metadata nothing is removed, because nothing
 * is known. Returns the function that restarts the sandboxes that were RUNNING; they are PENDING until then. The
 * removal of large deltas continues in the background.
 */
export async function recoverSandboxes(context: SandboxContext): Promise<() => Promise<void>> {
  const resumed: LiveSandbox[] = [];
  // In order, so that each is added at the end of the indexes.
  const records = [...context.metadata.sandboxes.newestFirst()].reverse();
  // The users of the range are reserved before others get what is left of it.
  const own = new Set(records.filter(({ uid }) => context.uids.contains(uid) && context.uids.reserve(uid)));
  for (const record of [...own, ...records.filter((each) => !own.has(each))]) {
    const sandbox = adopt(record, own.has(record) ? record.uid : context.uids.take(), context);
    context.add(sandbox);
    const owed = sandbox.status === 'SANDBOX_STOPPED' && record.commit_owed;
    if (sandbox.status === 'SANDBOX_PENDING' || owed) resumed.push(sandbox);
  }
  await findOrphans(context);
  if (context.metadata.fresh) await context.layers.keepAll();
  return async () => {
    context.reclaimLayers();
    void each([...context.leftovers.keys()], CONCURRENCY, (id) => context.removeLeftover(id, undefined));
    // All are queued at once, so that a command that comes before its sandbox's turn waits for it.
    const turn = (sandbox: LiveSandbox) => context.bringUps.run(sandbox.id, () => resume(sandbox, context));
    await Promise.all(resumed.map((sandbox) => sandbox.queue.run(() => turn(sandbox))));
  };
}

/** Fields that are absent in records of earlier servers. */
const EARLIER = {
  auto_commit: 'never',
  auto_commit_error: '',
  auto_commit_stopped: false,
  idle_timeout: 0,
  on_idle: 'stop',
  shell: '',
  env: {},
  workdir: '',
  destroy_at: 0,
} as const;

/**
 * A sandbox whose host user is outside `runtime.uid_range`, because the range changed or the state is from another machine,
 * gets one of the range: outside of it the user may be somebody else's. So does one whose user another sandbox has. No file of a
 * workspace has the user's number. `uid`: undefined if none is left.
 */
function adopt(stored: SandboxRecord, uid: number | undefined, context: SandboxContext): LiveSandbox {
  const earlier = { ...EARLIER, on_expire: context.settings.expiry.onExpire };
  const isComplete = (uid ?? stored.uid) === stored.uid && Object.keys(earlier).every((name) => name in stored);
  // Mostly one record is enough for both.
  const record = isComplete ? stored : { ...earlier, ...stored, uid: uid ?? stored.uid };
  const broken = (reason: string) => new LiveSandbox({ ...record, status_reason: reason }, 'SANDBOX_ERROR');
  if (uid === undefined) {
    const without = broken('every host user of runtime.uid_range is in use by a sandbox');
    without.hasForeignUser = true;
    return without;
  }
  if (!context.metadata.codebases.get(record.codebase_id)) return broken('its codebase is gone');
  const wasUp = record.status === 'SANDBOX_RUNNING' || record.status === 'SANDBOX_PENDING';
  if (!wasUp) return new LiveSandbox(record);
  // Not started; the cleanup, which checks the clock, ends it.
  const expired = isExpired(record.expires_at, context.clock);
  return new LiveSandbox(record, expired ? 'SANDBOX_STOPPED' : 'SANDBOX_PENDING');
}

async function resume(sandbox: LiveSandbox, context: SandboxContext): Promise<void> {
  if (context.closing) return;
  if (sandbox.status === 'SANDBOX_STOPPED') {
    await autoCommit(sandbox, context);
    return;
  }
  // A failure is stored as SANDBOX_ERROR with its reason, and logged there.
  await launch(sandbox, context).catch(() => undefined);
}

async function findOrphans(context: SandboxContext): Promise<void> {
  const { deltas, run, processes } = context.platform.layout;
  const names = [...(await readdir(deltas)), ...(await readdir(run)), ...(await readdir(processes))];
  const found = new Set(names.filter((name) => isId('sb', name)));
  const orphans = [...found].filter((id) => !context.sandboxes.has(id));
  if (orphans.length === 0) return;
  if (context.metadata.fresh) {
    context.log.warn('deltas without any metadata are kept', { count: orphans.length, path: deltas });
    return;
  }
  context.log.info('removing deltas of destroyed sandboxes', { count: orphans.length });
  for (const id of orphans) context.leftovers.set(id, undefined);
}
