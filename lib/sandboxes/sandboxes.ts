// Size: one table of all operations.
import type { ByteString } from '../byte-string.ts';
import type { ComingChange } from '../codebases/observe-change.ts';
import type { RebaseSandbox } from '../codebases/plan.ts';
import type { Checkpoint, Sandbox } from '../contract/messages.ts';
import type { Actor } from '../field-values.ts';
import type { SharedMappings } from '../linux/shared-mappings.ts';
import type { SecretName } from '../network/secrets/stored-secrets.ts';
import type { Page } from '../paging.ts';
import { PRESETS } from '../permissions/index.ts';
import type { Sandboxes, SandboxFilter, TimeoutAdvice } from '../services.ts';
import type { Unpreserved } from '../workspaces/workspaces.ts';
import { commitChanges } from './changes/commit.ts';
import { discardChanges } from './changes/discard.ts';
import { exportChanges } from './changes/export-changes.ts';
import { listChanges } from './changes/list-changes.ts';
import { preserveRemoved, warnUnpreserved } from './changes/preserve-removed.ts';
import { rebaseSandbox } from './changes/rebase.ts';
import { revertUnchanged } from './changes/revert-unchanged.ts';
import { createCheckpoint, deleteCheckpoint, listCheckpoints, rollback } from './checkpoints/checkpoints.ts';
import { forkSandbox } from './checkpoints/fork.ts';
import type { SandboxContext } from './context.ts';
import { execInSandbox } from './exec/exec.ts';
import { timeoutAdvice } from './exec/timeout-advice.ts';
import { exportFiles } from './files/export-files.ts';
import { importFiles } from './files/import-files.ts';
import * as names from './files/names.ts';
import { previewFile } from './files/preview-file.ts';
import { readFile } from './files/read-file.ts';
import { writeFile } from './files/write-file.ts';
import { JumpDetector } from './host/clock.ts';
import { withoutProcesses } from './host/host-state.ts';
import { createSandbox } from './lifecycle/create.ts';
import { destroySandbox } from './lifecycle/destroy.ts';
import { expireSandboxes } from './lifecycle/expire.ts';
import { markFailed } from './lifecycle/failure.ts';
import { IdleSandboxes } from './lifecycle/idle.ts';
import { recoverSandboxes } from './lifecycle/recover.ts';
import { reviveSandboxes } from './lifecycle/revive.ts';
import { startSandbox, stopSandbox } from './lifecycle/start-stop.ts';
import { updateSandbox } from './lifecycle/update.ts';
import { each } from './limiter.ts';
import { listSandboxes } from './list.ts';
import { secretChanged } from './network/secrets.ts';
import { agentView } from './permissions/agent-view.ts';
import { grantedBy } from './permissions/granted.ts';
import { explainPermission, updatePermissions } from './permissions/permissions.ts';
import { listRefusals } from './permissions/refusals.ts';
import type { LiveSandbox } from './sandbox.ts';

/** The operations for the composition, in addition to those for handlers. */
export interface SandboxKeeper extends Sandboxes {
  get(id: string, as?: Actor | ''): Sandbox;
  list(filter: SandboxFilter & Page): { sandboxes: Sandbox[]; next_page_token: string };
  listCheckpoints(id: string): Checkpoint[];
  /**
   * Must precede all other calls. Returns the function that restarts the sandboxes that were RUNNING; they are PENDING
   * until then.
   */
  recover(): Promise<() => Promise<void>>;
  /** Ids of the sandboxes on a codebase, including those being created or destroyed. */
  usersOf(codebaseId: string): string[];
  /** Ids of the sandboxes of RUNTIME_BWRAP with an image, in every state. */
  usersOfImage(id: string): string[];
  /** Puts a changed secret in force in running sandboxes. Never rejects. */
  secretChanged(secret: SecretName): Promise<void>;
  /** See `Services.beginCall`. */
  beginCall(id: string): (() => void) | undefined;
  /** See `Services.timeoutAdvice`. */
  timeoutAdvice(id: string): Promise<TimeoutAdvice>;
  /** Owner of a sandbox that the server destroyed within the last hour; undefined if that is not known. */
  ownerOfGone(id: string): string | undefined;
  /**
   * Called before codebase files are removed: copies up files that a sandbox still shows through a renamed directory.
   */
  preserveRemoved(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /** Called with the sandboxes in which some of these files could not be copied up. */
  unpreserved(codebaseId: string, sandboxes: readonly Unpreserved[]): void;
  /**
   * Called before codebase files change, after `preserveRemoved`: reverts unchanged entries at these paths in all sandboxes but
   * the one that commits.
   */
  revertUnchanged(codebaseId: string, paths: readonly ByteString[], change: ComingChange): Promise<void>;
  /** Called after codebase files changed. */
  codebaseChanged(codebaseId: string): void;
  /** Called after a stage of a commit is in the codebase: removes the committed entries from the sandbox's delta. */
  rebase: RebaseSandbox;
  /**
   * Called when the workspace file system has failed: every sandbox on it loses its commands, and is restarted when the
   * file system is mounted again (`back` settles then), or becomes SANDBOX_ERROR.
   */
  workspacesLost(reason: string, back: Promise<unknown>): void;
  /** Called when a sandbox's workspace cannot be read at all: the sandbox is marked as failed. */
  workspaceUnreadable(id: string, reason: string): void;
  /** See `WorkspaceObserver.mapped`. */
  mappedFiles(id: string, device: string): Promise<SharedMappings | undefined>;
  /** See `WorkspaceObserver.watched`. */
  watchedFiles(id: string, device: string): Promise<ReadonlySet<number>>;
  /** Ends all commands and sandboxes; their records are kept, so that a restart of the server starts them again. */
  close(): Promise<void>;
}

/** Sandboxes that are ended at the same time at the end of the server. */
const CONCURRENCY = 64;
/** Milliseconds after which every grace ends, whoever began it, so that hostile programs cannot keep the server from its end. */
const GENTLE_MS = 4000;

/** All operations on sandboxes. The caller runs `recover` first, and `close` at last. */
export function createSandboxes(context: SandboxContext): SandboxKeeper {
  const jumps = new JumpDetector(context.clock);
  const idle = new IdleSandboxes(context);
  return {
    ...bound({ ...names, previewFile, readFile, writeFile, exportFiles, importFiles }, context),
    ...bound({ updatePermissions, listRefusals, listCheckpoints, deleteCheckpoint, rollback }, context),
    create: (request) => createSandbox(request, context),
    get: (id, as) => (as === 'agent' ? agentView(context.find(id).view()) : context.find(id).view()),
    list: (filter) => listSandboxes(filter, context),
    update: (request) => updateSandbox(request, context),
    start: (id) => startSandbox(id, context),
    stop: (id) => stopSandbox(id, context),
    destroy: (id, discard) => destroySandbox(id, context, discard),
    exec: (request, signal) => execInSandbox(request, signal, context),
    granted: async (id) => grantedBy(context.find(id).record),
    explainPermission: (id, path, as) => explainPermission(id, path, as ?? '', context),
    presets: () => PRESETS,
    listChanges: (id, page, as, choice) => listChanges(id, page, { as: as ?? '', ...choice }, context),
    exportChanges: (id, format, as, choice, signal) =>
      exportChanges(id, format, { as: as ?? '', ...choice }, context, signal),
    discard: (id, paths, choice) => discardChanges(id, { ...choice, paths }, context),
    commit: (request) => commitChanges(request, context),
    createCheckpoint: async (id, name, intent) => createCheckpoint(id, name, intent, context),
    fork: (request) => forkSandbox(request, context),
    endIdle: () => idle.end(),
    beginCall: (id) => beginCall(id, context),
    timeoutAdvice: (id) => timeoutAdvice(id, context),
    expire: async () => {
      await context.processes.expire();
      await expireSandboxes(context, jumps);
    },
    recover: () => recoverSandboxes(context),
    usersOf: (codebaseId) => context.sandboxes.onCodebase(codebaseId).map((sandbox) => sandbox.id),
    usersOfImage: (image) => context.sandboxes.withImage(image).map((sandbox) => sandbox.id),
    secretChanged: (secret) => secretChanged(secret, context),
    ownerOfGone: (id) => context.gone.ownerOf(id),
    preserveRemoved: (codebaseId, paths) => preserveRemoved(codebaseId, paths, context),
    unpreserved: (codebaseId, sandboxes) => warnUnpreserved(codebaseId, sandboxes, context),
    codebaseChanged: (codebaseId) => context.warnings.codebaseChanged(codebaseId),
    revertUnchanged: (codebaseId, paths, change) => revertUnchanged(codebaseId, paths, change, context),
    rebase: (commit, stage, resumed) => rebaseSandbox(commit, stage, resumed, context),
    workspacesLost: (reason, back) => {
      context.ready?.lost();
      reviveSandboxes(reason, back, context);
    },
    workspaceUnreadable: (id, reason) => {
      const sandbox = context.sandboxes.get(id);
      const failed = sandbox?.queue.run(async () => {
        if (context.closing || !sandbox.attached || sandbox.destroying) return;
        await markFailed(sandbox, reason, context);
      });
      failed?.catch((err: unknown) => context.log.error('failed sandbox could not be marked', { sandbox_id: id, err }));
    },
    mappedFiles: (id, device) => context.mappings.of(context.sandboxes.get(id), device),
    watchedFiles: (id, device) => context.mappings.watchedIn(context.sandboxes.get(id), device),
    close: async () => {
      context.closing = true;
      const gentle = setTimeout(() => context.platform.graces.abort(), GENTLE_MS);
      const readyEnded = context.ready?.close();
      // Workspaces are not detached one by one: the mount syncs all of them when it closes. A sandbox being destroyed
      // has no record any more; the next start removes its remains, so it is not waited for.
      const staying = [...context.sandboxes.values()].filter(({ destroying }) => !destroying);
      await context.layers.idle();
      await each(staying, CONCURRENCY, (sandbox) => sandbox.queue.run(() => end(sandbox, context)));
      clearTimeout(gentle);
      await readyEnded;
      await context.processes.close();
      await storeDeltaBytes(staying, context);
    },
  };
}

type Bound<M> = {
  [K in keyof M]: M[K] extends (...args: [...infer A, SandboxContext]) => infer R ? (...args: A) => R : never;
};

/** Functions of which the last argument is the context, without it. */
function bound<M extends object>(functions: M, context: SandboxContext): Bound<M> {
  const entries = Object.entries(functions).map(([name, of]) => [name, (...args: unknown[]) => of(...args, context)]);
  return Object.fromEntries(entries) as Bound<M>;
}

function beginCall(id: string, { clock, ready, sandboxes }: SandboxContext): (() => void) | undefined {
  ready?.call();
  const activity = sandboxes.get(id)?.activity;
  if (activity === undefined) return undefined;
  activity.begin();
  let ended = false;
  return () => {
    ready?.call();
    if (!ended) activity.end(clock.monotonic());
    ended = true;
  };
}

async function end(sandbox: LiveSandbox, { platform, log }: SandboxContext): Promise<void> {
  const { id, running } = sandbox;
  sandbox.host = withoutProcesses(sandbox.host);
  await running
    ?.stop(undefined, platform.graces.signal)
    .catch((err) => log.warn('sandbox could not be stopped cleanly', { sandbox_id: id, err }));
}

/** For the next server, which knows no other bytes of a delta until its first use. */
async function storeDeltaBytes(
  sandboxes: readonly LiveSandbox[],
  { metadata: { sandboxes: records }, log }: SandboxContext,
): Promise<void> {
  const stored = sandboxes.map(async ({ id, storedBytes }) => {
    const record = records.get(id);
    const { delta_bytes = 0, home_bytes = 0 } = storedBytes;
    if (record === undefined) return;
    if (delta_bytes === (record.delta_bytes ?? 0) && home_bytes === (record.home_bytes ?? 0)) return;
    await records.put({ ...record, ...storedBytes });
  });
  const failed = (await Promise.allSettled(stored)).find((each) => each.status === 'rejected');
  if (failed) log.warn('the bytes of deltas could not be stored', { err: failed.reason });
}
