import { type ByteString, joinPath } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { directoryIn } from '../delta/index/directory-in.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { Op } from '../delta/index/records.ts';
import { PathMemo } from '../nodes/path-memo.ts';
import type { Workspace } from '../workspace.ts';
import type { RebasedPath } from '../workspaces.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Returns the operations that record base versions of what the sandbox made at the old paths of directories that it renamed and
 * committed (`renamed`, by these paths). Until then, the renamed directory tells that the sandbox knew the base's entries there.
 * One that is equal to the base's is not part of the commit (`paths`), so without a version its next change would be a conflict.
 */
export function* knownVersions(
  { base, delta }: Workspace,
  root: Inode,
  renamed: ReadonlyMap<ByteString, ByteString>,
  paths: readonly RebasedPath[],
): Steps<Op[]> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const directories = new PathMemo<Inode | undefined>(root, directoryIn);
  const waiting: [Inode, ByteString][] = [];
  for (const [origin, path] of renamed) {
    const dir = origin === path ? undefined : directories.at(origin);
    if (dir !== undefined) waiting.push([dir, origin]);
    if (counter.count()) yield;
  }
  const ops: Op[] = [];
  if (waiting.length === 0) return ops;
  const committed = new Set<ByteString>();
  for (const { path } of paths) {
    committed.add(path);
    if (counter.count()) yield;
  }
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [dir, path] = next;
    for (const [name, entry] of dir.requireEntries().found()) {
      if (counter.count()) yield;
      const at = joinPath(path, name);
      const below = directoryIn(dir, name);
      if (below !== undefined) waiting.push([below, at]);
      if (entry === WHITEOUT || below !== undefined || committed.has(at)) continue;
      const stat = delta.table.baseVersions.get(at) === undefined ? base.lstat(at) : undefined;
      if (stat !== undefined) ops.push(['seen', at, ...identityOf(stat)]);
    }
  }
  return ops;
}
