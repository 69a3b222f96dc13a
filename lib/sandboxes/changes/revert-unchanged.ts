import { setImmediate as turn } from 'node:timers/promises';
import { type ByteString, parentOf } from '../../byte-string.ts';
import type { ComingChange } from '../../codebases/observe-change.ts';
import { journalState } from '../../workspaces/delta/layers/layers-on-disk.ts';
import { hashOf, mayHave, type PathHash } from '../../workspaces/history/path-filter.ts';
import type { ChangingBase } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import { deltaOf, workspaceSpec } from '../lifecycle/bring-up.ts';
import { each } from '../limiter.ts';
import type { LiveSandbox } from '../sandbox.ts';

/** Paths that take some milliseconds of the main thread. */
const MANY = 2000;
/** Sandboxes at once; each may take long. */
const FLUSHES = 16;
const NOTHING = new Uint8Array(0);

/**
 * Call before a codebase changes at `paths`, after `preserveRemoved`: reverts unchanged entries at these paths in all other
 * sandboxes on it, also stopped ones, except copies of removed files below renamed directories. A failure is logged and
 * does not prevent the change: the sandbox keeps its entry, as a conflict.
 */
export async function revertUnchanged(
  codebaseId: string,
  paths: readonly ByteString[],
  { commit, removed }: ComingChange,
  context: SandboxContext,
): Promise<void> {
  const { mount } = context.platform;
  const others = context.sandboxes
    .onCodebase(codebaseId)
    .filter(({ id, record, destroying }) => id !== commit?.id && record.runtime !== 'RUNTIME_MOCK' && !destroying);
  if (others.length === 0) return;
  const { open, candidates } = await mount.findUnchanged(codebaseId, { paths, removed }, commit?.id);
  const isOpen = new Set(open);
  const isCandidate = new Set(candidates);
  // What programs wrote to mapped pages is a change, too.
  await each(candidates, FLUSHES, (id) => mount.flush(id));
  let hashes: Promise<PathHash[]> | undefined;
  const hashed = () => {
    hashes ??= hashesOf(paths);
    return hashes;
  };
  for (const sandbox of others) {
    const unread = !isOpen.has(sandbox.id);
    const mayHold = unread ? await mayHoldUnread(sandbox, hashed, context) : isCandidate.has(sandbox.id);
    if (mayHold) await revertIn(sandbox, { paths, removed }, unread, context);
  }
}

/** Of the paths and the directories that they are in. */
async function hashesOf(paths: readonly ByteString[]): Promise<PathHash[]> {
  const hashes: PathHash[] = [];
  let last: ByteString | undefined;
  for (const [index, path] of paths.entries()) {
    const parent = parentOf(path);
    if (parent !== last) hashes.push(hashOf(parent));
    hashes.push(hashOf(path));
    last = parent;
    if (index % MANY === MANY - 1) await turn();
  }
  return hashes;
}

async function revertIn(
  sandbox: LiveSandbox,
  changing: ChangingBase,
  listed: boolean,
  { platform, log }: SandboxContext,
): Promise<void> {
  const { id, record } = sandbox;
  const count = Atomics.load(sandbox.changeCount, 0);
  try {
    const filter = await platform.mount.revertUnchanged(workspaceSpec(sandbox, platform), changing, listed);
    if (filter !== undefined) sandbox.ownPaths = { filter, count };
  } catch (err) {
    log.warn('unchanged files of a sandbox hide a new version of the codebase', {
      sandbox_id: id,
      codebase_id: record.codebase_id,
      err,
    });
  }
}

/** Whether a sandbox whose delta is not in memory may have something of its own at the paths. */
async function mayHoldUnread(
  sandbox: LiveSandbox,
  hashed: () => Promise<readonly PathHash[]>,
  { platform }: SandboxContext,
): Promise<boolean> {
  const count = Atomics.load(sandbox.changeCount, 0);
  if (sandbox.ownPaths?.count !== count) {
    const isChanged =
      sandbox.record.origin !== undefined ||
      (await journalState(deltaOf(sandbox.id, platform.layout)).catch(() => undefined)) !== undefined;
    if (isChanged) return true;
    sandbox.ownPaths = { filter: NOTHING, count };
  }
  const { filter } = sandbox.ownPaths;
  if (filter.length === 0) return false;
  const hashes = await hashed();
  // The paths of a large commit are looked up for one sandbox at a time.
  if (hashes.length > MANY) await turn();
  return hashes.some((hash) => mayHave(filter, hash));
}
