import { ServiceError } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
import type { FileOperation, WorkspaceFiles } from '../../workspaces/workspace-files.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { DETACHED, type LeasedState } from '../host/host-state.ts';
import { attachWorkspace, describeLoss, type Platform } from '../lifecycle/bring-up.ts';
import { expired } from '../lifecycle/start-stop.ts';
import { isChanging, type LiveSandbox } from '../sandbox.ts';

/** A caller's access to the files of a sandbox. The function that opened it must close it, once. */
export interface FileSession {
  /** Calls an operation of `WorkspaceFiles`; ABORTED if the sandbox was stopped or destroyed meanwhile. */
  call<O extends FileOperation>(
    operation: O,
    ...args: Parameters<WorkspaceFiles[O]>
  ): Promise<ReturnType<WorkspaceFiles[O]>>;
  /**
   * Allocates descriptors for reading a host file of the sandbox; undefined if none are to be had now. The caller calls the
   * returned function when they are closed.
   */
  lend(descriptors: number): (() => void) | undefined;
  /** Runs a task on such a file; errors as those of `call`. */
  direct<T>(task: () => Promise<T>): Promise<T>;
  /** See `WorkspaceFiles.check`. */
  readonly warnings: number;
  /** Makes changes through mapped pages visible. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Runs concurrently with commands and with changes of the sandbox's state, because a transfer may take hours. As the
 * agent, the sandbox must be running; as the owner, any state is allowed.
 */
export async function openFiles(id: string, as: Actor | '', context: SandboxContext): Promise<FileSession> {
  const actor = as || 'agent';
  context.refuseWhenClosing();
  const sandbox = context.find(id);
  if (sandbox.record.runtime === 'RUNTIME_MOCK') {
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `sandbox ${id} is of the runtime mock, which has no files of its own`,
    );
  }
  if (isChanging(sandbox)) await context.settled(sandbox);
  if (sandbox.destroying) throw new ServiceError('FAILED_PRECONDITION', `sandbox ${id} is being destroyed`);
  if (actor === 'agent') {
    if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(sandbox.record);
    if (sandbox.status !== 'SANDBOX_RUNNING') throw sandbox.refuse();
  }
  const releaseLease = sandbox.attached ? async () => undefined : await acquireLease(id, context);
  return session(sandbox, actor, context, releaseLease);
}

/** Opens a session, runs the task and closes it. */
export async function withFiles<T>(
  id: string,
  as: Actor | '',
  context: SandboxContext,
  task: (files: FileSession) => Promise<T>,
): Promise<T> {
  const files = await openFiles(id, as, context);
  try {
    return await task(files);
  } finally {
    await files.close();
  }
}

function session(
  sandbox: LiveSandbox,
  actor: Actor,
  { platform }: SandboxContext,
  close: () => Promise<void>,
): FileSession {
  const { id } = sandbox;
  const whileThere = async <T>(task: () => Promise<T>): Promise<T> => {
    const isThere = () => sandbox.hasWorkspace;
    try {
      if (isThere()) return await task();
    } catch (error) {
      if (isThere() || isUnavailable(error)) throw error;
    }
    if (sandbox.lost !== undefined) throw new ServiceError('UNAVAILABLE', describeLoss(sandbox.lost));
    throw new ServiceError('ABORTED', `sandbox ${id} was stopped meanwhile`);
  };
  return {
    call: (operation, ...args) => whileThere(() => platform.mount.files(id, actor, operation, ...args)),
    lend: (descriptors) => platform.descriptors.transfers.tryBegin(id, descriptors),
    direct: whileThere,
    get warnings() {
      return Atomics.load(sandbox.changeCount, 1);
    },
    flush: () => whileThere(() => platform.mount.flush(id)),
    close,
  };
}

/**
 * Keeps the workspace of a sandbox that is not running attached until the last session is closed or the sandbox starts.
 */
function acquireLease(id: string, context: SandboxContext): Promise<() => Promise<void>> {
  const { platform } = context;
  return context.change(id, async (sandbox) => {
    if (sandbox.attached) return async () => undefined;
    const lease = sandbox.host.kind === 'leased' ? sandbox.host : await attachForSessions(sandbox, platform);
    sandbox.host = lease;
    lease.sessions++;
    return () =>
      sandbox.queue.run(async () => {
        lease.sessions--;
        if (lease.sessions > 0 || sandbox.host !== lease) return;
        sandbox.host = DETACHED;
        await platform.mount.detach(id);
      });
  });
}

async function attachForSessions(sandbox: LiveSandbox, platform: Platform): Promise<LeasedState> {
  const workspace = await attachWorkspace(sandbox, platform);
  if (!platform.mount.holds(sandbox.id))
    throw new ServiceError('UNAVAILABLE', 'the workspace file system died meanwhile');
  return { kind: 'leased', workspace, sessions: 0 };
}

/** The file system failed during the call; the caller may retry. */
function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'UNAVAILABLE';
}
