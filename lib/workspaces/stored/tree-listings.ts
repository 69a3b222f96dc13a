import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { EACCES } from '../../linux/errno.ts';
import { isDirectory } from '../../linux/mode.ts';
import { type RuleState, VIEW, WRITE } from '../../permissions/index.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import type { Access } from '../access/access.ts';
import { isVisible } from '../access/visibility.ts';
import type { Emptiness } from '../nodes/merged-listing.ts';
import { type TreeNode, typeOf } from '../nodes/tree-node.ts';
import { type Directory, isDirectoryItem, OwnDirectory } from '../tree/items.ts';
import { itemsOf } from '../tree/listing/items-of.ts';
import { Listing } from '../tree/listing/listing.ts';
import type { TreeWorkspace } from '../tree-workspace.ts';
import type { DirectoryListing, ListedName, StoredListings } from './stored-files.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 64;
/** Names of a directory whose subdirectories are counted for its st_nlink. */
const MOST_COUNTED = 512;

/** The directories of a workspace that is a live tree of objects. */
export class TreeListings implements StoredListings {
  readonly #workspace: TreeWorkspace;

  constructor(workspace: TreeWorkspace) {
    this.#workspace = workspace;
  }

  listed(dir: TreeNode): DirectoryListing {
    dir.listing ??= new Listing(this.#workspace.live.source);
    return new Names(this.#workspace, dir, dir.listing);
  }

  // biome-ignore lint/correctness/useYield: there is nothing that takes long.
  *listing(dir: TreeNode): Steps<DirectoryListing, undefined> {
    return this.listed(dir);
  }

  aboutToLookUp(): void {}

  aboutToList(): void {}

  emptiness(access: Access, dir: TreeNode): Emptiness {
    const { directory } = dir;
    if (directory.size === 0) return 'empty';
    if ((access.shownRule(dir).uniformBelow ?? 0) >= VIEW) return 'visible';
    return this.#workspace.computeOrPostpone([TreeListings, access, dir.id], () => this.#emptiness(access, dir));
  }

  *#emptiness(access: Access, dir: TreeNode): Steps<Emptiness> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const { name, type } of this.listed(dir).values()) {
      if (isVisible(access.ruleOf(dir, name), isDirectory(type))) return 'visible';
      if (counter.count()) yield;
    }
    return 'hidden';
  }

  linkCount(dir: TreeNode): number {
    const { directory } = dir;
    if (!(directory instanceof OwnDirectory) && directory.totals.directories === 0) return 2;
    if (directory.size > MOST_COUNTED) return 1;
    let links = 2;
    for (const [, item] of itemsOf(this.#workspace.live.source, directory))
      if (isDirectoryItem(item ?? undefined)) links++;
    return links;
  }

  requireWritableBelow(access: Access, top: TreeNode, to: RuleState): void {
    const from = access.rule(top);
    if (isWritable(from, to)) return;
    this.#workspace.computeOrPostpone([this, access, top, from, to], () => this.checkingBelow(access, top, to));
  }

  *checkingBelow(access: Access, top: TreeNode, above: RuleState): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const waiting: [directory: Directory, from: RuleState, to: RuleState][] = [
      [top.directory, access.rule(top), above],
    ];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [directory, from, to] = next;
      if (isWritable(from, to)) continue;
      for (const [name, item] of itemsOf(this.#workspace.live.source, directory)) {
        if (counter.count()) yield;
        if (item === null) continue;
        const states = [from.child(name), to.child(name)] as const;
        if (states.some(({ level }) => level !== WRITE)) throw EACCES;
        if (isDirectoryItem(item)) waiting.push([item, ...states]);
      }
    }
  }
}

function isWritable(from: RuleState, to: RuleState): boolean {
  return from.uniformBelow === WRITE && to.uniformBelow === WRITE;
}

/** The names of a directory as it is at each call. */
class Names implements DirectoryListing {
  readonly #workspace: TreeWorkspace;
  readonly #dir: TreeNode;
  readonly #listing: Listing;

  constructor(workspace: TreeWorkspace, dir: TreeNode, listing: Listing) {
    this.#workspace = workspace;
    this.#dir = dir;
    this.#listing = listing;
  }

  get size(): number {
    return (this.#dir.directory as OwnDirectory | DirectoryEntry).size;
  }

  values(): Iterable<ListedName> {
    return this.after(0);
  }

  *after(cookie: number): Generator<ListedName> {
    const { tree } = this.#workspace;
    for (const { name, item, cookie: next } of this.#listing.after(this.#dir.directory, cookie)) {
      tree.expect(this.#dir, name, item);
      yield { name, cookie: next, type: typeOf(item) };
    }
  }
}
