import { withBreaks } from '../../breaks.ts';
import { type ByteString, joinNames, toText } from '../../byte-string.ts';
import { parseDirectoryPath } from '../../codebases/file-path.ts';
import type { PermissionExplanation, Sandbox } from '../../contract/messages.ts';
import type { Actor } from '../../field-values.ts';
import { compiling, type Explanation, explain } from '../../permissions/index.ts';
import type { NewRules } from '../../services.ts';
import { withWorkspace } from '../changes/with-workspace.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { agentExplanation } from './agent-view.ts';
import { presetRules, rulesOf } from './rules.ts';

/**
 * Stores the rules before they take effect: after a crash the restarted sandbox has either the new rules, or the old
 * ones without the call having succeeded. If the file system rejects the rules, the old ones stay.
 */
export async function updatePermissions(request: NewRules, context: SandboxContext): Promise<Sandbox> {
  const permissions = await rulesOf(request);
  const { codebase_id } = context.find(request.sandbox_id).record;
  const pending = context.warnings.look(codebase_id, permissions, presetRules(request.preset));
  const updated = await context.change(request.sandbox_id, async (sandbox) => {
    const before = sandbox.record.permissions;
    await sandbox.update({ permissions }, context.metadata.sandboxes);
    if (!sandbox.hasWorkspace) return sandbox.view();
    try {
      await context.platform.mount.setRules(sandbox.id, permissions);
    } catch (error) {
      await sandbox.update({ permissions: before }, context.metadata.sandboxes);
      throw error;
    }
    return sandbox.view();
  });
  return { ...updated, warnings: await pending.settled() };
}

/**
 * Explains by the rules alone: the path need not exist. A path that a renamed directory shows from the codebase has the
 * stricter level of its two paths.
 */
export async function explainPermission(
  id: string,
  path: string,
  as: Actor | '',
  context: SandboxContext,
): Promise<PermissionExplanation> {
  const explanation = await explainAsOwner(id, path, context);
  return as === 'agent' ? agentExplanation(explanation) : explanation;
}

async function explainAsOwner(id: string, path: string, context: SandboxContext): Promise<PermissionExplanation> {
  const sandbox = context.find(id);
  const bytes = joinNames(parseDirectoryPath('path', path));
  const rules = await withBreaks(compiling(sandbox.record.permissions));
  const from = await shownFrom(sandbox, bytes, context);
  const byPath = explain(rules, bytes);
  const byOrigin = from === undefined || from === bytes ? byPath : explain(rules, from);
  if (byOrigin.level >= byPath.level) return explained(bytes, byPath);
  const renamed = `It shows ${JSON.stringify(toText(from!))} of the codebase, whose permission is the stricter one. `;
  return explained(bytes, { ...byOrigin, reason: renamed + byOrigin.reason });
}

/** The workspace of a sandbox that is not running is attached for the duration of the call. */
async function shownFrom(
  sandbox: LiveSandbox,
  path: ByteString,
  context: SandboxContext,
): Promise<ByteString | undefined> {
  const { id, record, hasWorkspace, ending } = sandbox;
  if (record.runtime === 'RUNTIME_MOCK') return undefined;
  if (hasWorkspace && !ending) return context.platform.mount.shownFrom(id, path);
  return withWorkspace(id, context, (mount) => mount.shownFrom(id, path));
}

function explained(
  path: ByteString,
  { permission, winner, beaten, passThrough, reason }: Explanation,
): PermissionExplanation {
  return {
    path: toText(path),
    permission,
    ...(winner && { winner }),
    beaten,
    pass_through: passThrough,
    reason,
  };
}
