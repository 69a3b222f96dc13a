import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { VIEW } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { isVisible } from '../access/visibility.ts';
import type { Base } from '../base/base.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import { Listing } from './listing.ts';
import type { Node } from './node.ts';

/** A workspace, of which only the base is asked. */
interface OnBase {
  readonly base: Base;
}

/** All names of a directory, built at first use and kept up to date as long as its node lives. */
export function mergedListing(workspace: OnBase, dir: Pick<Node, 'inode' | 'basePath' | 'listing'>): Listing {
  if (dir.listing !== undefined) return dir.listing;
  const listing = new Listing();
  const entries = dir.inode?.entries;
  if (dir.basePath !== undefined) {
    for (const { name, type } of workspace.base.readdir(dir.basePath)) {
      if (!entries?.has(name)) listing.add(name, type);
    }
  }
  for (const [name, inode] of entries ?? []) if (inode !== WHITEOUT) listing.add(name, inode.mode & S_IFMT);
  dir.listing = listing;
  return listing;
}

/** What keeps a directory from being removed: something the rules show, only hidden things, or nothing. */
export function emptiness(workspace: OnBase, access: Access, dir: Node): 'empty' | 'hidden' | 'visible' {
  if (dir.listing === undefined && dir.basePath === undefined && dir.inode!.entries!.size === 0) return 'empty';
  const listing = mergedListing(workspace, dir);
  if (listing.size === 0) return 'empty';
  if ((access.shownRule(dir).uniformBelow ?? 0) >= VIEW) return 'visible';
  for (const { name, type } of listing.values()) {
    if (isVisible(access.ruleOf(dir, name), isDirectory(type))) return 'visible';
  }
  return 'hidden';
}
