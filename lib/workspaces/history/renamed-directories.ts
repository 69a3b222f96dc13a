import { type ByteString, joinPath, NO_BYTES, parentOf, sliceOf } from '../../byte-string.ts';
import { Counted, type Steps } from '../../fuse/connection/steps.ts';
import type { Base } from '../base/base.ts';
import { isBaseDirectory, mergedBase } from '../base/merged-base.ts';
import type { Inode } from '../delta/index/inode.ts';
import { pathOf } from '../delta/index/path-of.ts';
import type { Workspace } from '../workspace.ts';
import type { OwnDirectory } from '../workspaces.ts';

/** Inodes looked at in one step. */
const AT_ONCE = 16;

/** Directories of the sandbox's own that are not merged with the base at their own path. */
export function* renamedDirectories(workspace: Workspace): Steps<OwnDirectory[], undefined> {
  const counted = new Counted(AT_ONCE);
  const found: OwnDirectory[] = [];
  const origins = new Origins(workspace.base);
  const { table } = workspace.delta;
  for (const { id, isDirectory } of table.found()) {
    yield* counted.one();
    const inode = isDirectory ? table.get(id) : undefined;
    if (inode === undefined || inode.linkCount === 0) continue;
    const path = pathOf(inode);
    const origin = origins.of(inode);
    if (path === origin) continue;
    found.push({ id, path, origin, replaces: isBaseDirectory(workspace.base, path) });
  }
  return found;
}

/** The base directory that each is merged with, by its own origin or that of a directory above. */
class Origins {
  readonly #base: Base;
  readonly #known = new Map<Inode, ByteString | undefined>();

  constructor(base: Base) {
    this.#base = base;
  }

  /** Trees can be deeper than any stack: nothing here calls itself. */
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

/** The paths of those that show a directory of the base, by that directory. */
export function pathsByOrigin(renamed: readonly OwnDirectory[]): Map<ByteString, ByteString[]> {
  const byOrigin = new Map<ByteString, ByteString[]>();
  for (const { path, origin } of renamed) {
    const known = origin === undefined ? undefined : byOrigin.get(origin);
    if (known !== undefined) known.push(path);
    else if (origin !== undefined) byOrigin.set(origin, [path]);
  }
  return byOrigin;
}

/** Where directories that are merged with one above a path of the base show it. */
export function shownAt(path: ByteString, byOrigin: ReadonlyMap<ByteString, readonly ByteString[]>): Set<ByteString> {
  const shown = new Set<ByteString>();
  for (let origin = parentOf(path); origin !== ''; origin = parentOf(origin)) {
    for (const top of byOrigin.get(origin) ?? []) shown.add(joinPath(top, sliceOf(path, origin.length + 1)));
  }
  return shown;
}

/** Whether the path lies below one of `tops`. */
export function isBelow(path: ByteString, tops: ReadonlySet<ByteString>): boolean {
  if (tops.size === 0) return false;
  for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (tops.has(above)) return true;
  return false;
}
