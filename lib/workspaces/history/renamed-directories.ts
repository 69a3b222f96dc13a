import { type ByteString, joinPath, NO_BYTES, parentOf, sliceOf } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { Base } from '../base/base.ts';
import { isBaseDirectory, mergedBase } from '../base/merged-base.ts';
import type { Inode } from '../delta/index/inode.ts';
import { pathOf } from '../delta/index/path-of.ts';
import type { Workspace } from '../workspace.ts';
import type { OwnDirectory } from '../workspaces.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** Returns the directories of the delta that are not merged with the base at their own path, in steps. */
export function* renamedDirectories(workspace: Workspace): Steps<OwnDirectory[], undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const found: OwnDirectory[] = [];
  const origins = new Origins(workspace.base);
  const { table } = workspace.delta;
  for (const { id, isDirectory } of table.found()) {
    yield* counter.count();
    const inode = isDirectory ? table.get(id) : undefined;
    if (inode === undefined || inode.linkCount === 0) continue;
    const path = pathOf(inode);
    const origin = origins.of(inode);
    if (path === origin) continue;
    found.push({ id, path, origin, replaces: isBaseDirectory(workspace.base, path) });
  }
  return found;
}

/** The base directory that each directory is merged with, by its own origin or that of a parent. */
class Origins {
  readonly #base: Base;
  readonly #known = new Map<Inode, ByteString | undefined>();

  constructor(base: Base) {
    this.#base = base;
  }

  /**
   * Returns the base directory of a directory, if any. The tree can be deeper than the stack, so there is no recursion.
   */
  of(inode: Inode): ByteString | undefined {
    const above: Inode[] = [];
    for (let at: Inode | undefined = inode; at !== undefined && !this.#known.has(at); at = at.firstLink?.dir) {
      above.push(at);
      if (at.origin !== undefined || !at.merges) break;
    }
    for (const each of above.reverse()) {
      const link = each.firstLink;
      const parent = link && this.#known.get(link.dir);
      this.#known.set(each, mergedBase(this.#base, each, parent, link?.name ?? NO_BYTES));
    }
    return this.#known.get(inode);
  }
}

/** Returns the paths of renamed directories by the base directory that they show. */
export function pathsByOrigin(renamed: readonly OwnDirectory[]): Map<ByteString, ByteString[]> {
  const byOrigin = new Map<ByteString, ByteString[]>();
  for (const { path, origin } of renamed) {
    const known = origin === undefined ? undefined : byOrigin.get(origin);
    if (known !== undefined) known.push(path);
    else if (origin !== undefined) byOrigin.set(origin, [path]);
  }
  return byOrigin;
}

/** Returns the paths at which renamed directories show a base path. */
export function shownAt(path: ByteString, byOrigin: ReadonlyMap<ByteString, readonly ByteString[]>): Set<ByteString> {
  const shown = new Set<ByteString>();
  for (let origin = parentOf(path); origin !== ''; origin = parentOf(origin)) {
    for (const top of byOrigin.get(origin) ?? []) shown.add(joinPath(top, sliceOf(path, origin.length + 1)));
  }
  return shown;
}

/** Whether a path is below one of `tops`. */
export function isBelow(path: ByteString, tops: ReadonlySet<ByteString>): boolean {
  if (tops.size === 0) return false;
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (tops.has(above)) return true;
  return false;
}
