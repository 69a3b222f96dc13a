import { type ByteString, joinPath, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { MAX_PATH_BYTES } from '../../path-limits.ts';
import type { Base } from '../base/base.ts';
import { mergedBase } from '../base/merged-base.ts';
import type { Delta } from '../delta/delta.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { Op } from '../delta/index/records.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Older servers did not record the base versions of directories that a sandbox removed, replaced or gave another mode.
 * For these, records the present base version, in steps. Called before any other use of the delta.
 */
export function* recordOlderDirectories({ base, delta }: { readonly base: Base; readonly delta: Delta }): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const root = delta.table.get(ROOT_ID);
  if (root === undefined) return;
  const ops: Op[] = [];
  const see = (path: ByteString, stat = base.lstat(path)) => {
    if (stat === undefined || !isDirectory(stat.mode)) return false;
    if (delta.table.baseVersions.get(path) === undefined) ops.push(['seen', path, ...identityOf(stat)]);
    return true;
  };
  const hidden: ByteString[] = [];
  const waiting = [{ dir: root, path: ROOT_PATH }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [name, entry] of next.dir.requireEntries().entries()) {
      if (counter.count()) yield;
      const path = joinPath(next.path, name);
      if (path.length > MAX_PATH_BYTES) continue;
      const stat = base.lstat(path);
      // A path that is not in the base has no base entries below it.
      if (stat === undefined || !isDirectory(stat.mode)) continue;
      if (entry === WHITEOUT || !entry.isDirectory || mergedBase(base, entry, next.path, name) !== path) {
        hidden.push(path);
        continue;
      }
      if (stat.mode !== entry.mode) see(path, stat);
      waiting.push({ dir: entry, path });
    }
  }
  for (let path = hidden.pop(); path !== undefined; path = hidden.pop()) {
    if (!see(path)) continue;
    for (const { name, type } of yield* base.reading(path)) if (isDirectory(type)) hidden.push(joinPath(path, name));
  }
  if (ops.length === 0) return;
  try {
    yield* delta.committing(ops, true);
  } catch {
    // A full disk: the delta is still consistent, and these changes are listed without their conflicts.
  }
}
