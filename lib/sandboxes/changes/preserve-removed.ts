import type { ByteString } from '../../byte-string.ts';
import { journalState } from '../../workspaces/delta/layers/layers-on-disk.ts';
import type { Unpreserved } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { deltaOf, workspaceSpec } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';

const UNPRESERVED = 'files below a renamed directory could not be preserved';

/**
 * Call before a codebase loses `paths`: other sandboxes on it, also stopped ones, copy up the files that they still
 * show through a renamed directory. If one of them cannot (quota, full disk), that is logged and does not prevent the
 * removal.
 */
export async function preserveRemoved(
  codebaseId: string,
  paths: readonly ByteString[],
  context: SandboxContext,
  except?: string,
): Promise<void> {
  if (paths.length === 0) return;
  const { platform, log } = context;
  for (const sandbox of context.sandboxes.onCodebase(codebaseId)) {
    const { id, record } = sandbox;
    if (id === except || record.runtime === 'RUNTIME_MOCK' || sandbox.destroying) continue;
    try {
      const state = await stateOf(sandbox, context);
      if (state === undefined || sandbox.noRenamesAtState === state) continue;
      const renamed = await platform.mount.preserveRemoved(workspaceSpec(sandbox, platform), paths);
      sandbox.noRenamesAtState = renamed ? undefined : state;
    } catch (err) {
      log.warn(UNPRESERVED, { sandbox_id: id, codebase_id: codebaseId, err });
    }
  }
}

export function warnUnpreserved(codebaseId: string, sandboxes: readonly Unpreserved[], { log }: SandboxContext): void {
  for (const { id, reason } of sandboxes) log.warn(UNPRESERVED, { sandbox_id: id, codebase_id: codebaseId, reason });
}

/** A value that changes with every change of the sandbox; undefined: it has never changed anything. */
async function stateOf({ id, record }: LiveSandbox, { platform }: SandboxContext): Promise<string | undefined> {
  return (await journalState(deltaOf(id, platform.layout))) ?? record.origin;
}
