import { Counted, complete, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { VIEW } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { isVisible } from '../access/visibility.ts';
import type { Base } from '../base/base.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import { LISTED_BYTES, type MemoryBudget, type MemoryHolder } from '../memory-budget.ts';
import { Listing } from './listing.ts';
import type { Node } from './node.ts';

/** Entries of the sandbox's own from which on a directory is listed a part at a time. */
const MANY_ENTRIES = 4096;
/** The same of a directory of the base, by its size on the disk: some thousand names on all file systems. */
const MANY_BYTES = 64 << 10;
/** Names listed, or looked at, in one step. */
const AT_ONCE = 64;

/** What a listing needs of its workspace. */
interface OnBase {
  readonly base: Base;
}

interface Listed extends OnBase, MemoryHolder {
  readonly shared: { readonly memory: MemoryBudget };
}

interface Asked extends Listed {
  findOut<T>(key: readonly unknown[], find: () => Steps<T>): T;
}

/** A directory of the merged tree that the kernel need not know: of the index, of the base, or of both. */
export type Unlooked = Pick<Node, 'inode' | 'basePath' | 'listing'>;

/** To list it takes more than one step. */
function isLarge({ inode, basePath, base }: Node): boolean {
  return (inode?.entries?.size ?? 0) > MANY_ENTRIES || (basePath !== undefined && (base?.size ?? 0) > MANY_BYTES);
}

/**
 * All names of a directory, built at first use and kept up to date as long as its node lives. For requests, before they
 * change anything: throws Postponed while a large one is built, and EDQUOT when the sandbox may not keep so many names in
 * memory.
 *
 * A listing that is being built misses no change: the sandbox's own changes wait, since the workspace is held, and so does
 * `baseChanged`, which corrects each name that the base changed meanwhile once the node has the listing, or else has the
 * listing built anew.
 */
export function mergedListing(workspace: Asked, dir: Node): Listing {
  if (dir.listing !== undefined) return dir.listing;
  const { inode, basePath } = dir;
  const unlooked = { inode, basePath, listing: undefined };
  // By what it shows: the node may be another one when the request is run again.
  const listing = isLarge(dir)
    ? workspace.findOut([mergedListing, inode?.id, basePath], () => listNames(workspace, unlooked))
    : complete(listNames(workspace, unlooked));
  workspace.shared.memory.claim(workspace, listing.size * LISTED_BYTES, true);
  dir.listing = listing;
  return listing;
}

/** As `mergedListing` where it costs little; undefined where it would take long, or more memory than there is. */
export function knownListing(workspace: Listed, dir: Node): Listing | undefined {
  if (dir.listing !== undefined) return dir.listing;
  const names = dir.inode?.entries?.size ?? 0;
  if (isLarge(dir) || workspace.shared.memory.isOver(workspace, names * LISTED_BYTES, true)) return undefined;
  dir.listing = complete(listNames(workspace, dir));
  return dir.listing;
}

/** As `mergedListing` as steps. The caller holds the workspace. Where there is no memory for it the node does not keep it. */
export function* keptListing(workspace: Listed, dir: Node): Steps<Listing, undefined> {
  if (dir.listing !== undefined) return dir.listing;
  const listing = yield* listNames(workspace, dir);
  if (!workspace.shared.memory.isOver(workspace, listing.size * LISTED_BYTES, true)) dir.listing = listing;
  return listing;
}

/** The names of a directory, a part at a time; its node does not keep them. The caller holds the workspace. */
export function* listNames(
  workspace: OnBase,
  { inode, basePath, listing: known }: Unlooked,
): Steps<Listing, undefined> {
  if (known !== undefined) return known;
  const counted = new Counted(AT_ONCE);
  const listing = new Listing();
  const entries = inode?.entries;
  for (const { name, type } of basePath === undefined ? [] : yield* workspace.base.reading(basePath)) {
    if (!entries?.has(name)) listing.add(name, type);
    yield* counted.one();
  }
  for (const [name, entry] of entries?.found() ?? []) {
    if (entry !== WHITEOUT) listing.add(name, entry.mode & S_IFMT);
    yield* counted.one();
  }
  return listing;
}

/** What keeps a directory from being removed: something the rules show, only hidden things, or nothing. */
export type Emptiness = 'empty' | 'hidden' | 'visible';

/** For requests, before they change anything: throws Postponed while a large directory is looked through. */
export function emptiness(workspace: Asked, access: Access, dir: Node): Emptiness {
  const { inode, basePath, listing } = dir;
  if ((listing?.size ?? inode?.entries?.size ?? 0) === 0 && (listing !== undefined || basePath === undefined))
    return 'empty';
  const find = () => findEmptiness(workspace, access, dir);
  return (listing?.size ?? 0) > MANY_ENTRIES || isLarge(dir)
    ? workspace.findOut([emptiness, access, inode?.id, basePath], find)
    : complete(find());
}

function* findEmptiness(workspace: OnBase, access: Access, dir: Node): Steps<Emptiness> {
  const counted = new Counted(AT_ONCE);
  const listing = yield* listNames(workspace, dir);
  if (listing.size === 0) return 'empty';
  if ((access.shownRule(dir).uniformBelow ?? 0) >= VIEW) return 'visible';
  for (const { name, type } of listing.values()) {
    if (isVisible(access.ruleOf(dir, name), isDirectory(type))) return 'visible';
    yield* counted.one();
  }
  return 'hidden';
}
