import { type ByteString, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { HostTree } from '../../host-tree/host-tree.ts';

/** Directories examined in one step. */
const ITEMS_PER_STEP = 16;

/** A directory at the begin of the first change that needs it, with the number of changes in progress that do. */
interface Before {
  identity: string;
  changes: number;
}

/**
 * Finds the directories above changed paths that a change keeps. Their names need not be examined in the workspaces of
 * the codebase, of which there may be thousands: so a change costs only those that show the directory of a changed name.
 */
export class KeptDirectories {
  readonly #before = new Map<ByteString, Before>();

  /** Called before paths are replaced; ended by one `end` for each call. */
  *begin(tree: HostTree | undefined, paths: readonly ByteString[]): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const path of above(paths)) {
      const known = this.#before.get(path);
      if (known !== undefined) known.changes++;
      else this.#before.set(path, { identity: identityAt(tree, path), changes: 1 });
      if (counter.count()) yield;
    }
  }

  /**
   * Called after paths were replaced, or failed to be. Returns the directories above them that are the same as at the
   * begin: none of those for which there was no begin.
   */
  *end(tree: HostTree | undefined, paths: readonly ByteString[]): Steps<Set<ByteString>> {
    const kept = new Set<ByteString>();
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const path of above(paths)) {
      const before = this.#before.get(path);
      if (before === undefined) continue;
      if (--before.changes === 0) this.#before.delete(path);
      if (before.identity !== '' && before.identity === identityAt(tree, path)) kept.add(path);
      if (counter.count()) yield;
    }
    return kept;
  }
}

/** The directories above `paths` without the root and without `paths`, each once. */
function above(paths: readonly ByteString[]): Set<ByteString> {
  const directories = new Set<ByteString>();
  for (const path of paths)
    for (let at = parentOf(path); at !== ROOT_PATH && !directories.has(at); at = parentOf(at)) directories.add(at);
  for (const path of paths) directories.delete(path);
  return directories;
}

/** Identifies a directory; '' if there is none or it cannot be examined. An inode number may be used again: the time of birth is not. */
function identityAt(tree: HostTree | undefined, path: ByteString): string {
  try {
    const stat = tree?.lstat(path);
    return stat?.isDirectory() ? `${stat.dev}:${stat.ino}:${stat.birthtimeNs}` : '';
  } catch {
    return '';
  }
}
