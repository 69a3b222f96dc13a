import { type ByteString, joinPath } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { hasLaterEntries } from '../base/later-entries.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import type { Op } from '../delta/index/records.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';

const NONE: ReadonlySet<ByteString> = new Set();
/** Names examined in one step. */
const ITEMS_PER_STEP = 16;

/**
 * Called for a directory that replaced the base's and is merged with it from now on, with those of the sandbox in it.
 * Entries that were equal to the base's are not part of the commit: those removed since need whiteouts, by the returned operations.
 */
export function* hidingRemoved(workspace: LayeredWorkspace, top: Inode, topPath: ByteString): Steps<Op[]> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const ops: Op[] = [];
  const waiting: [Inode, ByteString][] = [[top, topPath]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [dir, path] = next;
    for (const { name, type } of yield* workspace.base.reading(path)) {
      if (counter.count()) yield;
      const entry = dir.requireEntries().get(name);
      const at = joinPath(path, name);
      if (entry === undefined && !(yield* hasLaterEntries(workspace, NONE, at, { mode: type })))
        ops.push(['hide', dir.id, name]);
      if (entry === undefined || entry === WHITEOUT || !entry.isDirectory || !isDirectory(type)) continue;
      if (entry.origin === undefined && entry.merges) waiting.push([entry, at]);
    }
  }
  return ops;
}
