import type { ByteString } from '../../byte-string.ts';
import { parseDirectoryPath, textOf } from '../../codebases/file-path.ts';
import type { PermissionExplanation, Sandbox, UpdatePermissionsRequest } from '../../messages.ts';
import { compileRules, type Explanation, explain, levelOf } from '../../permissions/index.ts';
import { withWorkspace } from '../changes/with-workspace.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { rulesOf } from './rules.ts';

/**
 * Stored before they are in force: whatever happens in between, what a restart brings up has the new rules or was never
 * told to have them. When the file system cannot take them, the old ones stay.
 */
export function updatePermissions(request: UpdatePermissionsRequest, context: SandboxContext): Promise<Sandbox> {
  const permissions = rulesOf(request);
  return context.change(request.sandbox_id, async (sandbox) => {
    const before = sandbox.record.permissions;
    await sandbox.update({ permissions }, context.metadata.sandboxes);
    if (!sandbox.attached && !sandbox.visited) return sandbox.view();
    try {
      await context.platform.mount.setRules(sandbox.id, permissions);
    } catch (error) {
      await sandbox.update({ permissions: before }, context.metadata.sandboxes);
      throw error;
    }
    return sandbox.view();
  });
}

/**
 * By the rules: the path need not exist. What the sandbox shows of the codebase below a directory that it renamed has the
 * stricter level of the two paths.
 */
export async function explainPermission(
  id: string,
  path: string,
  context: SandboxContext,
): Promise<PermissionExplanation> {
  const sandbox = context.find(id);
  const bytes = parseDirectoryPath('path', path).join('/');
  const rules = compileRules(sandbox.record.permissions);
  const from = await shownFrom(sandbox, bytes, context);
  const byPath = explain(rules, bytes);
  const byOrigin = from === undefined || from === bytes ? byPath : explain(rules, from);
  if (levelOf(byOrigin.permission) >= levelOf(byPath.permission)) return explained(bytes, byPath);
  const renamed = `It shows ${JSON.stringify(textOf(from!))} of the codebase, whose permission is the stricter one. `;
  return explained(bytes, { ...byOrigin, reason: renamed + byOrigin.reason });
}

/** One that is not up is attached for that long. */
async function shownFrom(
  sandbox: LiveSandbox,
  path: ByteString,
  context: SandboxContext,
): Promise<ByteString | undefined> {
  const { id, record, attached, visited } = sandbox;
  if (record.runtime === 'RUNTIME_MOCK') return undefined;
  if (attached || visited) return context.platform.mount.shownFrom(id, path);
  return withWorkspace(id, context, (mount) => mount.shownFrom(id, path));
}

function explained(
  path: ByteString,
  { permission, winner, beaten, passThrough, reason }: Explanation,
): PermissionExplanation {
  return {
    path: textOf(path),
    permission,
    ...(winner && { winner }),
    beaten,
    pass_through: passThrough,
    reason,
  };
}
