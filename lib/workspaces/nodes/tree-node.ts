import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFREG, S_IFSOCK } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { type Entry, TYPE } from '../../trees/format/entry.ts';
import { isLocal } from '../../trees/format/keys.ts';
import { type Directory, type Item, isDirectoryItem, OwnDirectory, OwnFile } from '../tree/items.ts';
import type { Listing } from '../tree/listing/listing.ts';
import type { LiveTree } from '../tree/live-tree.ts';
import { longestBelow } from '../tree/longest-below.ts';
import { missing, Node, type NodeOwner, type Shown } from './node.ts';

const MODES: Readonly<Record<number, number>> = {
  [TYPE.file]: S_IFREG,
  [TYPE.directory]: S_IFDIR,
  [TYPE.symlink]: S_IFLNK,
  [TYPE.fifo]: S_IFIFO,
  [TYPE.socket]: S_IFSOCK,
  [TYPE.characterDevice]: S_IFCHR,
  [TYPE.blockDevice]: S_IFBLK,
};

/** The S_IFMT bits of an item. */
export function typeOf(item: Item): number {
  const { type } = item instanceof OwnDirectory || item instanceof OwnFile ? item.entry : item;
  return MODES[type]!;
}

/** A node of a workspace that is a live tree of objects. */
export class TreeNode<Owner extends NodeOwner = NodeOwner> extends Node<Owner> {
  /** Directory: its readers. */
  listing: Listing | undefined;
  #live: LiveTree | undefined;
  #item: Item | undefined;
  /** That of the tree when it had the item. */
  #generation = 0;

  bind(live: LiveTree, item: Item): void {
    this.#live = live;
    this.show(item);
  }

  /** The item is another one from now on. */
  show(item: Item): void {
    this.#item = item;
    this.#generation = this.#live!.generation;
  }

  /** What the tree has at its name; of a node without one what it had last. */
  get item(): Item {
    if (this.#generation !== this.#live?.generation) this.#resolve();
    return this.#item!;
  }

  /** `item` of a directory. */
  get directory(): Directory {
    const { item } = this;
    return isDirectoryItem(item) ? item : missing(this, 'entries');
  }

  /** What is known of it, but for the key and the totals of an own directory. */
  get entry(): Entry {
    const { item } = this;
    return item instanceof OwnFile || item instanceof OwnDirectory ? item.entry : item;
  }

  /** A freeze, or a move of the codebase, has made other items of the same files. Paths are deeper than the stack. */
  #resolve(): void {
    const { generation } = this.#live ?? missing(this, 'tree');
    const outdated: this[] = [];
    for (let node: this | undefined = this; node !== undefined && node.#generation !== generation; node = node.parent)
      outdated.push(node);
    for (const node of outdated.reverse()) node.#find(generation);
  }

  #find(generation: number): void {
    this.#generation = generation;
    const live = this.#live!;
    const link = this.links[0];
    if (link !== undefined) this.#item = live.lookup(link.parent.directory, link.name) ?? this.#item;
    else if (this.lastLink === undefined && isDirectoryItem(this.#item)) this.#item = live.root;
  }

  get shown(): Shown {
    return new ShownEntry(this.entry);
  }

  /** Contents in its own store, or what may change at any time. */
  get isOwn(): boolean {
    const { item } = this;
    return item instanceof OwnFile || item instanceof OwnDirectory || isLocal(item.key) || item.agentText;
  }

  get isBound(): boolean {
    return this.#item !== undefined;
  }

  get version(): string {
    const { ino, mode, size, mtime, mtimeNs, key } = this.entry;
    return `${ino}-${mode}-${size}-${mtime}-${mtimeNs}-${key}`;
  }

  get isAgentText(): boolean {
    return this.entry.agentText;
  }

  get nameCount(): number {
    const { item } = this;
    return item instanceof OwnFile ? item.names.length : this.entry.nlink;
  }

  reachesBelow(room: number): boolean {
    return longestBelow(this.item) > room;
  }

  freed(): void {
    this.listing = undefined;
  }
}

class ShownEntry implements Shown {
  readonly #entry: Entry;

  constructor(entry: Entry) {
    this.#entry = entry;
  }

  get mode(): number {
    return MODES[this.#entry.type]! | this.#entry.mode;
  }

  get size(): number {
    return this.#entry.size;
  }

  get holes(): number {
    return this.#entry.holes ?? 0;
  }

  get uid(): number {
    return this.#entry.owner?.uid ?? 0;
  }

  get gid(): number {
    return this.#entry.owner?.gid ?? 0;
  }

  get rdev(): number {
    return this.#entry.rdev ?? 0;
  }

  get atime(): Time {
    const { atime } = this.#entry;
    return atime === undefined ? this.mtime : { sec: atime.s, nsec: atime.ns };
  }

  get mtime(): Time {
    return { sec: this.#entry.mtime, nsec: this.#entry.mtimeNs };
  }

  get ctime(): Time {
    return { sec: this.#entry.ctime, nsec: this.#entry.ctimeNs };
  }
}
