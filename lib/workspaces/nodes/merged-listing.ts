import { complete, StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { EDQUOT } from '../../linux/errno.ts';
import { isDirectory, S_IFMT } from '../../linux/mode.ts';
import { VIEW } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { isVisible } from '../access/visibility.ts';
import type { Base } from '../base/base.ts';
import { WHITEOUT } from '../delta/index/inode.ts';
import { LISTED_BYTES, type MemoryBudget, type MemoryHolder } from '../memory-budget.ts';
import type { LayeredNode } from './layered-node.ts';
import { Listing } from './listing.ts';

/** Number of entries in the delta from which on a directory is listed in steps. */
const MANY_ENTRIES = 4096;
/** The same for a base directory, by its st_size: several thousand names, or 65,536 on ZFS, where it counts names. */
const MANY_BYTES = 64 << 10;
/**
 * Failed lookups in one directory (search paths, module resolution) after which its names are listed to answer from
 * memory.
 */
const MISSES_TO_LIST = 32;
/** Bytes of a large base directory, and entries in the delta, whose listing costs as much as a failed lookup. */
const BYTES_PER_MISS = 1024;
const ENTRIES_PER_MISS = 32;
/** Names listed or examined in one step. */
const ITEMS_PER_STEP = 64;

/** The part of a workspace that listing names needs. */
interface BaseOwner {
  readonly base: Base;
}

interface ListingOwner extends BaseOwner, MemoryHolder {
  readonly shared: { readonly memory: MemoryBudget };
}

interface RequestOwner extends ListingOwner {
  computeOrPostpone<T>(key: readonly unknown[], find: () => Steps<T>): T;
}

/** A directory of the merged tree, with or without a node: of the delta, of the base, or of both. */
export type DirectoryRef = Pick<LayeredNode, 'inode' | 'basePath' | 'listing'>;

/** Whether listing the directory takes more than one step. */
function isLarge({ inode, basePath, base, outdatedListing }: LayeredNode): boolean {
  const names = Math.max(inode?.entries?.size ?? 0, outdatedListing?.size ?? 0);
  return names > MANY_ENTRIES || (basePath !== undefined && (base?.size ?? 0) > MANY_BYTES);
}

/** Bytes that a listing of so many names needs in addition to the outdated one, which counts until it is replaced. */
function growth(names: number, dir: LayeredNode): number {
  return (names - (dir.outdatedListing?.size ?? 0)) * LISTED_BYTES;
}

/**
 * Returns all names of a directory. The listing is built at first use and kept up to date while its node lives; an outdated
 * one is replaced, with the same cookies. For requests, before they change anything: throws Postponed while a large listing
 * is built, and EDQUOT beyond the memory limit of the sandbox.
 *
 * A listing misses no change while it is built: changes by the sandbox wait because the workspace is held.
 * `baseChanged` waits, too; it then corrects each name that changed in the base if the node has the listing, and
 * otherwise makes the listing be rebuilt.
 */
export function mergedListing(workspace: RequestOwner, dir: LayeredNode): Listing {
  if (dir.listing !== undefined) return dir.listing;
  const { inode, basePath, outdatedListing: former } = dir;
  const list = () => listNames(workspace, { inode, basePath, listing: undefined }, former);
  // Cached by inode and base path: when the request is run again, the node may be another one.
  const listing = isLarge(dir)
    ? workspace.computeOrPostpone([mergedListing, inode?.id, basePath, former], list)
    : complete(list());
  workspace.shared.memory.claim(workspace, growth(listing.size, dir), true);
  dir.listing = listing;
  return listing;
}

/**
 * Lists a large directory once its failed lookups have cost as much as its listing. For requests, before they change
 * anything: throws Postponed while the listing is built. Beyond the memory limit it is not listed, and tried again after
 * as many failed lookups.
 */
export function listMissedOften(workspace: RequestOwner, dir: LayeredNode): void {
  if (dir.misses < MISSES_TO_LIST || dir.listing !== undefined || !isLarge(dir)) return;
  const bytes = dir.base?.size ?? 0;
  const entries = dir.inode?.entries?.size ?? 0;
  if (dir.misses < bytes / BYTES_PER_MISS + entries / ENTRIES_PER_MISS) return;
  try {
    mergedListing(workspace, dir);
  } catch (error) {
    if (error !== EDQUOT) throw error;
    dir.misses = 0;
  }
}

/** As `mergedListing` after many failed lookups, if it is cheap. Returns undefined otherwise. */
export function listingForMisses(workspace: ListingOwner, dir: LayeredNode): Listing | undefined {
  return dir.misses < MISSES_TO_LIST ? undefined : cheapListing(workspace, dir);
}

/** As `mergedListing` if it is cheap. Returns undefined if it would take long or exceed the memory limit. */
export function cheapListing(workspace: ListingOwner, dir: LayeredNode): Listing | undefined {
  if (dir.listing !== undefined) return dir.listing;
  const names = dir.inode?.entries?.size ?? 0;
  if (isLarge(dir) || workspace.shared.memory.isOver(workspace, growth(names, dir), true)) return undefined;
  dir.listing = complete(listNames(workspace, dir, dir.outdatedListing));
  return dir.listing;
}

/**
 * As `mergedListing`, in steps. The caller holds the workspace. Beyond the memory limit the node does not keep the
 * listing.
 */
export function* cachedListing(workspace: ListingOwner, dir: LayeredNode): Steps<Listing, undefined> {
  if (dir.listing !== undefined) return dir.listing;
  const listing = yield* listNames(workspace, dir, dir.outdatedListing);
  if (!workspace.shared.memory.isOver(workspace, growth(listing.size, dir), true)) dir.listing = listing;
  return listing;
}

/**
 * Lists the names of a directory in steps; its node does not keep the listing. The caller holds the workspace. `former`: a
 * listing whose cookies are kept.
 */
export function* listNames(
  workspace: BaseOwner,
  { inode, basePath, listing: known }: DirectoryRef,
  former?: Listing,
): Steps<Listing, undefined> {
  if (known !== undefined) return known;
  const counter = new StepCounter(ITEMS_PER_STEP);
  const listing = new Listing(former);
  const entries = inode?.entries;
  for (const { name, type } of basePath === undefined ? [] : yield* workspace.base.reading(basePath)) {
    if (!entries?.has(name)) listing.add(name, type);
    if (counter.count()) yield;
  }
  for (const [name, entry] of entries?.found() ?? []) {
    if (entry !== WHITEOUT) listing.add(name, entry.mode & S_IFMT);
    if (counter.count()) yield;
  }
  if (former !== undefined) yield* listing.keepCookies(former);
  return listing;
}

/** Whether a directory can be removed: it is empty, or has only hidden entries, or visible ones. */
export type Emptiness = 'empty' | 'hidden' | 'visible';

/**
 * Returns whether a directory is empty. For requests, before they change anything: throws Postponed while a large
 * directory is examined.
 */
export function emptiness(workspace: RequestOwner, access: Access, dir: LayeredNode): Emptiness {
  const { inode, basePath, listing } = dir;
  if ((listing?.size ?? inode?.entries?.size ?? 0) === 0 && (listing !== undefined || basePath === undefined))
    return 'empty';
  const find = () => findEmptiness(workspace, access, dir);
  return (listing?.size ?? 0) > MANY_ENTRIES || isLarge(dir)
    ? workspace.computeOrPostpone([emptiness, access, inode?.id, basePath], find)
    : complete(find());
}

function* findEmptiness(workspace: BaseOwner, access: Access, dir: LayeredNode): Steps<Emptiness> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const listing = yield* listNames(workspace, dir);
  if (listing.size === 0) return 'empty';
  if ((access.shownRule(dir).uniformBelow ?? 0) >= VIEW) return 'visible';
  for (const { name, type } of listing.values()) {
    if (isVisible(access.ruleOf(dir, name), isDirectory(type))) return 'visible';
    if (counter.count()) yield;
  }
  return 'hidden';
}
