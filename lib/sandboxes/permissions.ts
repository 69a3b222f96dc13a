import { parseDirectoryPath, textOf } from '../codebases/file-path.ts';
import type { PermissionExplanation, Sandbox, UpdatePermissionsRequest } from '../messages.ts';
import { compileRules, explain } from '../permissions/index.ts';
import type { SandboxContext } from './context.ts';
import { rulesOf } from './rules.ts';

/**
 * Stored before they are in force: whatever happens in between, what a restart brings up has the new rules or was never
 * told to have them. When the file system cannot take them, the old ones stay.
 */
export function updatePermissions(request: UpdatePermissionsRequest, context: SandboxContext): Promise<Sandbox> {
  const permissions = rulesOf(request);
  return context.change(request.sandbox_id, async (sandbox) => {
    const before = sandbox.record;
    const after = { ...before, permissions };
    await context.metadata.sandboxes.put({ ...sandbox.settled(), permissions });
    sandbox.record = after;
    if (!sandbox.attached && !sandbox.visited) return sandbox.view();
    try {
      await context.platform.mount.setRules(sandbox.id, permissions);
    } catch (error) {
      sandbox.record = before;
      await context.metadata.sandboxes.put(sandbox.settled());
      throw error;
    }
    return sandbox.view();
  });
}

/** Asks the rules alone: the path need not exist. */
export function explainPermission(id: string, path: string, context: SandboxContext): PermissionExplanation {
  const { permissions } = context.find(id).record;
  const bytes = parseDirectoryPath('path', path).join('/');
  const { permission, winner, beaten, passThrough, reason } = explain(compileRules(permissions), bytes);
  return {
    path: textOf(bytes),
    permission,
    ...(winner && { winner }),
    beaten,
    pass_through: passThrough,
    reason,
  };
}
