import type { ByteString } from '../../../byte-string.ts';
import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { ENOSPC } from '../../../linux/errno.ts';
import { Aliases } from './aliases.ts';
import { BaseVersions } from './base-versions.ts';
import type { Header } from './header.ts';
import { IdSet } from './id-set.ts';
import { FIRST_INO, Inode, type Owner, WHITEOUT } from './inode.ts';
import { InodePages } from './inode-pages.ts';
import { DIRECTORY_BYTES, ENTRY_BYTES, HARD_LINK_BYTES, INODE_BYTES } from './memory.ts';
import { hashOfNumber, RowIndex } from './row-index.ts';

/** Id of the root directory. */
export const ROOT_ID = 1;
/** Largest id of an inode: `RowIndex` stores ids in 32 bits. */
const MAX_ID = 2 ** 31 - 3;
/** Inodes examined in one step. */
const ITEMS_PER_STEP = 64;
/** Upper limit of `reach`: longer paths cannot be created. */
const MAX_REACH = 4097;

/**
 * The namespace of one delta: its inodes and their links. A table can extend a frozen one: it has copies of the inodes
 * that were used, and shares the others. It accesses neither files nor the journal; `apply` in apply.ts changes it.
 */
export class InodeTable implements Owner {
  readonly #parent: InodeTable | undefined;
  /** Own inodes, and copies of inodes of the parent that were accessed. */
  readonly #inodes = new InodePages();
  /** Inodes of the parent that were removed. */
  readonly #removed = new IdSet();
  /** Ids of own inodes with the inode number of a base file. The base may reuse such a number. */
  readonly #byBaseIno = new RowIndex((id) => hashOfNumber(this.#inodes.get(id)!.ino));
  /** Inodes that base files with several links were copied up to. */
  readonly aliases: Aliases;
  readonly baseVersions: BaseVersions;
  /** The last stage of a commit after which the sandbox was rebased. */
  rebased: { readonly commit: string; readonly stage: number } | undefined;
  /** Keys of the placeholders in files of `Inode.isAgentText`, in hexadecimal: those of this sandbox and its ancestors. */
  placeholderKeys: readonly string[] = [];
  /** Memory of own inodes and links in bytes. */
  #memory = 0;
  nextId = ROOT_ID + 1;
  nextIno = FIRST_INO;
  size = 0;
  frozen = false;

  /** Extends `below`, which must not change any more: unchanged inodes are shared. */
  constructor(below?: InodeTable) {
    this.#parent = below;
    this.aliases = new Aliases(below?.aliases);
    this.baseVersions = new BaseVersions(below?.baseVersions);
    if (below === undefined) return;
    this.nextId = below.nextId;
    this.nextIno = below.nextIno;
    this.size = below.size;
    this.rebased = below.rebased;
    this.placeholderKeys = below.placeholderKeys;
  }

  /** Returns an inode, copied to this table if necessary. */
  get(id: number): Inode | undefined {
    const own = this.#inodes.get(id);
    if (own !== undefined || this.#parent === undefined || this.#removed.has(id)) return own;
    const shared = this.#parent.find(id);
    if (shared === undefined) return undefined;
    const inode = Inode.copyOf(shared, this);
    this.#inodes.set(inode);
    this.#memory += memoryOfInode(inode);
    return inode;
  }

  /** As `get`. Throws if there is no such inode. */
  require(id: number): Inode {
    const inode = this.get(id);
    if (inode === undefined) throw new Error(`no inode ${id}`);
    return inode;
  }

  /** Raises the counters of ids and inode numbers to at least these. */
  raiseCounters({ nextId, nextIno }: Pick<Header, 'nextId' | 'nextIno'>): void {
    this.nextId = Math.max(this.nextId, nextId);
    this.nextIno = Math.max(this.nextIno, nextIno);
  }

  copy<E extends Inode | typeof WHITEOUT>(shared: E): E {
    return (shared === WHITEOUT ? WHITEOUT : this.require(shared.id)) as E;
  }

  look<E extends Inode | typeof WHITEOUT>(shared: E): E {
    return (shared === WHITEOUT ? WHITEOUT : this.find(shared.id)) as E;
  }

  /** Memory in bytes, approximately, without the parents. */
  get ownMemory(): number {
    return this.#memory + this.#inodes.memory + this.baseVersions.ownMemory;
  }

  /** Memory in bytes with all parents, which this table keeps alive. */
  get memory(): number {
    let bytes = 0;
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) bytes += table.ownMemory;
    return bytes;
  }

  /** This table and its parents, which it keeps in memory. */
  *chain(): Generator<InodeTable> {
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) yield table;
  }

  /** Whether this is the other table or extends it. */
  extends(other: InodeTable): boolean {
    for (const table of this.chain()) if (table === other) return true;
    return false;
  }

  /** Returns an inode without copying it, possibly of a parent; read-only. */
  find(id: number): Inode | undefined {
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) {
      const inode = table.#inodes.get(id);
      if (inode !== undefined || table.#removed.has(id)) return inode;
    }
    return undefined;
  }

  /** All inodes without copying them, possibly of parents; read-only. */
  *found(): Generator<Inode> {
    if (this.#parent === undefined) return yield* this.#inodes.values();
    const told = new IdSet();
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) {
      for (const { id } of table.#inodes.values()) {
        const inode = told.add(id) ? this.find(id) : undefined;
        if (inode !== undefined) yield inode;
      }
    }
  }

  /** Number of tables in the chain, this one included. */
  get depth(): number {
    return [...this.chain()].length;
  }

  /** The inodes that may differ from the parent's. */
  own(): Generator<Inode> {
    return this.#inodes.values();
  }

  /** Inodes of the parent that were removed or may have other contents; read-only. */
  *replaced(): Generator<Inode> {
    if (this.#parent === undefined) return;
    for (const { id } of this.#inodes.values()) {
      const before = this.#parent.find(id);
      if (before !== undefined) yield before;
    }
    for (const id of this.#removed.values()) {
      const before = this.#parent.find(id);
      if (before !== undefined) yield before;
    }
  }

  /** Returns the bytes of all contents that are stored; `below` is that of the parent. */
  *countingBytes(below: number): Steps<number> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    let bytes = below;
    for (const { stored } of this.replaced()) {
      bytes -= stored;
      if (counter.count()) yield;
    }
    for (const { stored } of this.own()) {
      bytes += stored;
      if (counter.count()) yield;
    }
    return bytes;
  }

  /** Returns the inode that a base file with several links was copied up to. */
  alias(dev: number, ino: number): Inode | undefined {
    const id = this.aliases.get(dev, ino);
    return id === undefined ? undefined : this.get(id);
  }

  /** Whether a copied-up inode has this inode number, so that no base file may show it. */
  keepsIno(ino: number): boolean {
    const hash = hashOfNumber(ino);
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) {
      const inodes = table.#inodes;
      // It may have been removed by a table that extends it.
      const kept = (id: number) => inodes.get(id)!.ino === ino && this.find(id) !== undefined;
      if (table.#byBaseIno.find(hash, kept) !== undefined) return true;
    }
    return false;
  }

  /** Allocates an inode id. Throws ENOSPC if all were used. */
  newId(): number {
    if (this.nextId > MAX_ID) throw ENOSPC;
    return this.nextId++;
  }

  /** Adds a new inode, without links. */
  add(inode: Inode): void {
    this.#inodes.set(inode);
    this.#memory += memoryOfInode(inode);
    this.size++;
    this.nextId = Math.max(this.nextId, inode.id + 1);
    if (inode.ino >= FIRST_INO) this.nextIno = Math.max(this.nextIno, inode.ino + 1);
    else this.#byBaseIno.add(hashOfNumber(inode.ino), inode.id);
  }

  /** Removes an unlinked inode. Returns false if it was removed before. */
  remove(inode: Inode): boolean {
    const { id, ino } = inode;
    if (this.#inodes.get(id) === undefined) return false;
    const isShared = this.#parent?.find(id) !== undefined;
    if (ino < FIRST_INO && !isShared) this.#byBaseIno.remove(hashOfNumber(ino), id);
    this.#inodes.delete(id);
    this.#memory -= memoryOfInode(inode);
    this.size--;
    if (isShared) this.#removed.add(id);
    return true;
  }

  /** Links an inode. The name has no entry. */
  link(dir: Inode, name: ByteString, inode: Inode): void {
    this.#memory += dir.requireEntries().set(name, inode) * memoryOfName(name);
    inode.addLink(dir, name);
    if (inode.linkCount > 1) this.#memory += HARD_LINK_BYTES;
    if (inode.isDirectory) dir.subdirs++;
    lengthen(dir, name.length + (inode.reach > 0 ? 1 + inode.reach : 0));
  }

  /** Adds a whiteout. The name has no entry. */
  whiteOut(dir: Inode, name: ByteString): void {
    this.#memory += dir.requireEntries().set(name, WHITEOUT) * memoryOfName(name);
  }

  /** Removes a link or a whiteout, if there is one. */
  removeEntry(dir: Inode, name: ByteString): void {
    const inode = dir.requireEntries().get(name);
    if (inode === undefined) return;
    this.#memory += dir.requireEntries().delete(name) * memoryOfName(name);
    if (inode === WHITEOUT) return;
    if (inode.linkCount > 1) this.#memory -= HARD_LINK_BYTES;
    inode.removeLink(dir, name);
    if (inode.isDirectory) dir.subdirs--;
  }

  /** Counts, in steps, the memory of the links and entries that an inode was added with. */
  *countingLinks(inode: Inode): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    this.#memory += HARD_LINK_BYTES * Math.max(0, inode.linkCount - 1);
    for (const name of inode.entries?.keys() ?? []) {
      this.#memory += memoryOfName(name);
      if (counter.count()) yield;
    }
  }

  /** Sets a directory's origin, or removes it. */
  setOrigin(dir: Inode, origin: ByteString | undefined): void {
    this.#memory += (origin?.length ?? 0) - (dir.origin?.length ?? 0);
    dir.origin = origin;
  }
}

/**
 * Raises `reach` of a directory and its parents. It is bounded, so that the cost for each name is bounded in a deep
 * tree.
 */
function lengthen(dir: Inode, bytes: number): void {
  let reach = Math.min(bytes, MAX_REACH);
  for (let at = dir; at.reach < reach; ) {
    at.reach = reach;
    const link = at.firstLink;
    if (link === undefined) return;
    reach = Math.min(link.name.length + 1 + reach, MAX_REACH);
    at = link.dir;
  }
}

function memoryOfInode({ isDirectory, target, origin }: Inode): number {
  return INODE_BYTES + (isDirectory ? DIRECTORY_BYTES : 0) + (target?.length ?? 0) + (origin?.length ?? 0);
}

/** Memory of a directory entry in bytes. */
function memoryOfName(name: ByteString): number {
  return ENTRY_BYTES + name.length;
}
