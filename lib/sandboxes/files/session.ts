import { ServiceError } from '../../errors.ts';
import type { Actor } from '../../field-values.ts';
import type { FileOperation, WorkspaceFiles } from '../../workspaces/workspace-files.ts';
import type { SandboxContext } from '../context.ts';
import { isExpired } from '../host/clock.ts';
import { attachWorkspace, describeLoss } from '../lifecycle/bring-up.ts';
import { expired } from '../lifecycle/start-stop.ts';
import { isComing, type LiveSandbox } from '../sandbox.ts';

/** One caller's access to the files of a sandbox, for as long as it takes. Whoever opened it closes it, once. */
export interface FileSession {
  /** One of `WorkspaceFiles`; ABORTED when the sandbox was stopped or destroyed meanwhile. */
  call<O extends FileOperation>(
    operation: O,
    ...args: Parameters<WorkspaceFiles[O]>
  ): Promise<ReturnType<WorkspaceFiles[O]>>;
  /** What programs changed in mapped pages is seen from now on. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Beside the sandbox's commands, and beside what changes its state: a transfer may take hours. The agent's view is that
 * of a running sandbox; the owner's is there in every state.
 */
export async function openFiles(id: string, as: Actor | '', context: SandboxContext): Promise<FileSession> {
  const actor = as || 'agent';
  context.refuseWhenClosing();
  const sandbox = context.find(id);
  if (sandbox.record.runtime === 'RUNTIME_MOCK') {
    throw new ServiceError('FAILED_PRECONDITION', `sandbox ${id} is of RUNTIME_MOCK, which has no files of its own`);
  }
  if (isComing(sandbox)) await sandbox.queue.run(async () => undefined);
  if (sandbox.leaving) throw new ServiceError('FAILED_PRECONDITION', `sandbox ${id} is being destroyed`);
  if (actor === 'agent') {
    if (isExpired(sandbox.record.expires_at, context.clock)) throw expired(id);
    if (sandbox.status !== 'SANDBOX_RUNNING') throw sandbox.refuse();
  }
  const leave = sandbox.attached ? async () => undefined : await visit(id, context);
  return session(sandbox, actor, context, leave);
}

/** Opens, does and closes. */
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
    const isThere = () => sandbox.attached || sandbox.visited !== undefined;
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
    flush: () => whileThere(() => platform.mount.flush()),
    close,
  };
}

/** Keeps the workspace of one that is not up attached until the last visitor left, or it was brought up. */
function visit(id: string, context: SandboxContext): Promise<() => Promise<void>> {
  const { platform } = context;
  return context.change(id, async (sandbox) => {
    if (sandbox.attached) return async () => undefined;
    if (sandbox.visited === undefined) {
      const workspace = await attachWorkspace(sandbox, platform);
      if (!platform.mount.holds(id)) throw new ServiceError('UNAVAILABLE', 'the workspace file system died meanwhile');
      sandbox.visited = { workspace, count: 0 };
    }
    const { visited } = sandbox;
    visited.count++;
    return () =>
      sandbox.queue.run(async () => {
        visited.count--;
        if (visited.count > 0 || sandbox.visited !== visited) return;
        sandbox.visited = undefined;
        await platform.mount.detach(id);
      });
  });
}

/** The file system died under the call, which the caller may repeat. */
function isUnavailable(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'UNAVAILABLE';
}
