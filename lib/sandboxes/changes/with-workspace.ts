import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { attachWorkspace, type Platform } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Runs `task` with the sandbox's workspace attached. A sandbox that is not running has it attached for the duration of
 * the task, so that its changes can be examined after a stop. Excludes other changes of the sandbox's state, but not
 * its commands.
 */
export function withWorkspace<T>(
  id: string,
  context: SandboxContext,
  task: (mount: Platform['mount'], sandbox: LiveSandbox) => Promise<T>,
): Promise<T> {
  return context.change(id, (sandbox) => withAttached(sandbox, context, (mount) => task(mount, sandbox)));
}

/** Like `withWorkspace`, called from the sandbox's queue. */
export async function withAttached<T>(
  sandbox: LiveSandbox,
  context: SandboxContext,
  task: (mount: Platform['mount']) => Promise<T>,
): Promise<T> {
  const { id } = sandbox;
  const { mount } = context.platform;
  if (sandbox.record.runtime === 'RUNTIME_MOCK') {
    throw new ServiceError('FAILED_PRECONDITION', `sandbox ${id} is of the runtime mock, which has no changes`);
  }
  await context.platform.finishCommit(sandbox.record.codebase_id);
  if (sandbox.hasWorkspace) return task(mount);
  await attachWorkspace(sandbox, context.platform);
  try {
    return await task(mount);
  } finally {
    await mount.detach(id);
  }
}
