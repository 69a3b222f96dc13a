import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { attachWorkspace, type Platform } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Runs `task` with the sandbox's workspace attached; one that is not up is attached for that long, so what it changed
 * can be looked at after a stop. No other change of the sandbox's state runs meanwhile; its commands do.
 */
export function withWorkspace<T>(
  id: string,
  context: SandboxContext,
  task: (mount: Platform['mount'], sandbox: LiveSandbox) => Promise<T>,
): Promise<T> {
  return context.change(id, (sandbox) => withAttached(sandbox, context, (mount) => task(mount, sandbox)));
}

/** The same from its queue. */
export async function withAttached<T>(
  sandbox: LiveSandbox,
  context: SandboxContext,
  task: (mount: Platform['mount']) => Promise<T>,
): Promise<T> {
  const { id } = sandbox;
  const { mount } = context.platform;
  if (sandbox.record.runtime === 'RUNTIME_MOCK') {
    throw new ServiceError('FAILED_PRECONDITION', `sandbox ${id} is of RUNTIME_MOCK, which has no changes`);
  }
  await context.platform.finishCommit(sandbox.record.codebase_id);
  if (sandbox.attached || sandbox.visited) return task(mount);
  await attachWorkspace(sandbox, context.platform);
  try {
    return await task(mount);
  } finally {
    await mount.detach(id);
  }
}
