import type { ByteString } from '../../byte-string.ts';
import { journalState } from '../../workspaces/delta/layers/layers-on-disk.ts';
import type { SandboxContext } from '../context.ts';
import { deltaOf, workspaceSpec } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Before a codebase loses `paths`: other sandboxes on it keep what directories that they renamed show of them, stopped
 * ones as well. What one of them cannot keep (its quota, a full disk) is logged, and keeps nobody from removing.
 */
export async function keepRemoved(
  codebaseId: string,
  paths: readonly ByteString[],
  context: SandboxContext,
  except?: string,
): Promise<void> {
  if (paths.length === 0) return;
  const { platform, log } = context;
  for (const sandbox of [...context.sandboxes.values()]) {
    const { id, record } = sandbox;
    if (id === except || record.codebase_id !== codebaseId || record.runtime === 'RUNTIME_MOCK' || sandbox.leaving)
      continue;
    try {
      const state = await stateOf(sandbox, context);
      if (state === undefined || sandbox.withoutRenamed === state) continue;
      const renamed = await platform.mount.keepRemoved(workspaceSpec(sandbox, platform), paths);
      sandbox.withoutRenamed = renamed ? undefined : state;
    } catch (err) {
      log.warn('a sandbox loses files of a directory that it renamed', {
        sandbox_id: id,
        codebase_id: codebaseId,
        err,
      });
    }
  }
}

/** Changes when the sandbox changes anything; undefined: it never did. */
async function stateOf({ id, record }: LiveSandbox, { platform }: SandboxContext): Promise<string | undefined> {
  return (await journalState(deltaOf(id, platform.layout))) ?? record.origin;
}
