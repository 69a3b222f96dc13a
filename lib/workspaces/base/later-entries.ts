import { type ByteString, joinPath } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import { isBelow } from '../history/renamed-directories.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { BaseStat } from './base.ts';

/**
 * Whether the base has, at a path that a directory of the sandbox hides, an entry that was added later: one that the
 * sandbox did not remove, or a directory with such an entry. `origins`: the base paths of directories that the sandbox
 * renamed.
 */
export function* hasLaterEntries(
  { base, delta }: LayeredWorkspace,
  origins: ReadonlySet<ByteString>,
  path: ByteString,
  { mode }: Pick<BaseStat, 'mode'>,
): Steps<boolean, undefined> {
  const waiting = [{ at: path, directory: isDirectory(mode) }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { at, directory } = next;
    yield;
    if (origins.has(at) || isBelow(at, origins)) continue;
    if (delta.table.baseVersions.get(at) === undefined) return true;
    if (directory) {
      for (const { name, type } of yield* base.reading(at)) {
        waiting.push({ at: joinPath(at, name), directory: isDirectory(type) });
      }
    }
  }
  return false;
}
