import { ancestorsOf, type ByteString, splitPath } from '../../../byte-string.ts';
import { Counted, complete, type Steps } from '../../../fuse/connection/steps.ts';
import type { Time } from '../../../linux/time.ts';
import { BaseVersions } from './base-versions.ts';
import { FIRST_INO, Inode, type Owner, WHITEOUT } from './inode.ts';
import { DIRECTORY_BYTES, ENTRY_BYTES, HARD_LINK_BYTES, INODE_BYTES } from './memory.ts';
import { bodyOf, MERGES, type Op, type OpNamed, timesOf } from './records.ts';

/** Id of the root directory. */
export const ROOT_ID = 1;
/** Inodes examined in one step. */
const AT_ONCE = 64;
/** Upper limit of `reach`: longer paths cannot be created. */
const MAX_REACH = 4097;

/** The namespace of one delta: the result of all applied operations. It accesses neither files nor the journal. */
export class InodeTable implements Owner {
  readonly #parent: InodeTable | undefined;
  /** Own inodes, and copies of inodes of the parent that were accessed. */
  readonly #inodes = new Map<number, Inode>();
  /** Inodes of the parent that were removed. */
  readonly #removed = new Set<number>();
  /**
   * By `dev:ino` of a base file with several links: the inode it was copied up to; undefined: removed from those of the
   * parent.
   */
  readonly #aliases = new Map<string, Inode | undefined>();
  /**
   * Base inode numbers that copied-up inodes keep, with the difference of their number to the parent's: the base may
   * reuse such a number.
   */
  readonly #keptInos = new Map<number, number>();
  readonly baseVersions: BaseVersions;
  /** The last stage of a commit after which the sandbox was rebased. */
  rebased: { readonly commit: string; readonly stage: number } | undefined;
  /** Memory of this table's own parts in bytes. */
  #memory = 0;
  nextId = ROOT_ID + 1;
  nextIno = FIRST_INO;
  size = 0;
  frozen = false;

  /** Extends `below`, which must not change any more: unchanged inodes are shared. */
  constructor(below?: InodeTable) {
    this.#parent = below;
    this.baseVersions = new BaseVersions(below?.baseVersions);
    if (below === undefined) return;
    this.nextId = below.nextId;
    this.nextIno = below.nextIno;
    this.size = below.size;
    this.rebased = below.rebased;
  }

  /** Returns an inode, copied to this table if necessary. */
  get(id: number): Inode | undefined {
    const own = this.#inodes.get(id);
    if (own !== undefined || this.#parent === undefined || this.#removed.has(id)) return own;
    const shared = this.#parent.#find(id);
    if (shared === undefined) return undefined;
    const inode = Inode.copyOf(shared, this);
    this.#inodes.set(id, inode);
    this.#memory += memoryOfInode(inode);
    return inode;
  }

  copy<E extends Inode | typeof WHITEOUT>(shared: E): E {
    return (shared === WHITEOUT ? WHITEOUT : this.#require(shared.id)) as E;
  }

  look<E extends Inode | typeof WHITEOUT>(shared: E): E {
    return (shared === WHITEOUT ? WHITEOUT : this.#find(shared.id)) as E;
  }

  /** Memory in bytes, approximately, without the parents. */
  get ownMemory(): number {
    return this.#memory + this.baseVersions.ownMemory;
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
  #find(id: number): Inode | undefined {
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) {
      const inode = table.#inodes.get(id);
      if (inode !== undefined || table.#removed.has(id)) return inode;
    }
    return undefined;
  }

  /** All inodes without copying them, possibly of parents; read-only. */
  *found(): Generator<Inode> {
    const told = new Set<number>();
    for (let table: InodeTable | undefined = this; table !== undefined; table = table.#parent) {
      for (const id of [...table.#inodes.keys()]) {
        if (told.has(id)) continue;
        told.add(id);
        const inode = this.#find(id);
        if (inode !== undefined) yield inode;
      }
    }
  }

  /** Number of tables in the chain, this one included. */
  get depth(): number {
    return [...this.chain()].length;
  }

  /** Returns the chain as one table, in steps. This table must not change in the meantime. */
  *flattening(): Steps<InodeTable> {
    const counted = new Counted(AT_ONCE);
    const flat = new InodeTable();
    flat.nextId = this.nextId;
    flat.nextIno = this.nextIno;
    flat.rebased = this.rebased;
    for (const inode of this.found()) {
      const copy = Inode.copyOf(inode, flat);
      flat.#inodes.set(copy.id, copy);
      if (copy.ino < FIRST_INO) flat.#countKeptIno(copy.ino, 1);
      yield* counted.one();
    }
    flat.size = flat.#inodes.size;
    for (const inode of flat.#inodes.values()) {
      yield* inode.resolving();
      flat.#memory += memoryOfInode(inode) + HARD_LINK_BYTES * Math.max(0, inode.linkCount - 1);
      for (const name of inode.entries?.keys() ?? []) {
        flat.#memory += memoryOfName(name);
        yield* counted.one();
      }
      yield* counted.one();
    }
    for (const key of this.#aliasKeys()) {
      const inode = this.#aliasOf(key);
      if (inode !== undefined) flat.#aliases.set(key, flat.get(inode.id));
      yield* counted.one();
    }
    for (const [path, identity] of this.baseVersions.entries()) {
      flat.baseVersions.add(path, identity);
      yield* counted.one();
    }
    return flat;
  }

  /** The inodes that may differ from the parent's. */
  own(): IterableIterator<Inode> {
    return this.#inodes.values();
  }

  /** Apparent size of all contents in bytes; `below` is that of the parent. */
  bytes(below: number): number {
    return complete(this.countingBytes(below));
  }

  /** As `bytes`, in steps. */
  *countingBytes(below: number): Steps<number> {
    const counted = new Counted(AT_ONCE);
    let bytes = below;
    for (const { id, size } of this.#inodes.values()) {
      bytes += size - (this.#sizeBelow(id) ?? 0);
      yield* counted.one();
    }
    for (const id of this.#removed) bytes -= this.#sizeBelow(id) ?? 0;
    return bytes;
  }

  /** Inodes of the parent that were removed or may have other contents; read-only. */
  *replaced(): Generator<Inode> {
    for (const id of [...this.#inodes.keys(), ...this.#removed]) {
      const inode = this.#parent === undefined ? undefined : this.#parent.#find(id);
      if (inode !== undefined) yield inode;
    }
  }

  #sizeBelow(id: number): number | undefined {
    return this.#parent === undefined ? undefined : this.#parent.#find(id)?.size;
  }

  /** Returns the inode that a base file with several links was copied up to. */
  alias(dev: number, ino: number): Inode | undefined {
    return this.#aliasOf(`${dev}:${ino}`);
  }

  #aliasOf(key: string): Inode | undefined {
    if (this.#aliases.size > 0 && this.#aliases.has(key)) return this.#aliases.get(key);
    const shared = this.#parent === undefined ? undefined : this.#parent.#aliasOf(key);
    return shared && this.get(shared.id);
  }

  #aliasKeys(): Set<string> {
    const below = this.#parent === undefined ? [] : this.#parent.#aliasKeys();
    return new Set([...below, ...this.#aliases.keys()]);
  }

  /** Whether a copied-up inode has this inode number, so that no base file may show it. */
  keepsIno(ino: number): boolean {
    return this.#keepers(ino) > 0;
  }

  #keepers(ino: number): number {
    const below = this.#parent === undefined ? 0 : this.#parent.#keepers(ino);
    return below + (this.#keptInos.size > 0 ? (this.#keptInos.get(ino) ?? 0) : 0);
  }

  /** Applies an operation. Throws an Error for an operation that no journal of this program contains. */
  apply(op: Op): void {
    switch (op[0]) {
      case 'new':
        this.#create(op);
        break;
      case 'link':
        this.#link(this.#requireDirectory(op[1]), op[2], this.#require(op[3]));
        break;
      case 'hide':
        this.#removeEntry(this.#requireDirectory(op[1]), op[2]);
        this.#memory += this.#requireDirectory(op[1]).entries!.set(op[2], WHITEOUT) * memoryOfName(op[2]);
        break;
      case 'drop':
        this.#removeEntry(this.#requireDirectory(op[1]), op[2]);
        break;
      case 'attr':
        this.#setAttr(op);
        break;
      case 'data':
        this.#setData(op);
        break;
      case 'place':
        this.#place(this.#require(op[1]), op[2], op[3], op[4]);
        break;
      case 'touch':
        this.#require(op[1]).mtime = time(op[2], op[3]);
        this.#require(op[1]).ctime = time(op[2], op[3]);
        break;
      case 'ctime':
        this.#require(op[1]).ctime = time(op[2], op[3]);
        break;
      case 'alias':
        this.#setAliases(this.#require(op[1]), `${op[2]}:${op[3]}`, op[4]);
        break;
      case 'seen': {
        const [, path, ...identity] = op;
        this.baseVersions.add(path, identity);
        break;
      }
      case 'unseen':
        this.baseVersions.delete(op[1]);
        break;
      case 'origin':
        this.#setOrigin(this.#requireDirectory(op[1]), op[2]);
        break;
      case 'rebased':
        this.rebased = { commit: op[1], stage: op[2] };
        break;
      default:
        throw new Error(`unknown record ${JSON.stringify(op)}`);
    }
  }

  /** Removes an unlinked inode. Returns false if it was removed before. */
  remove(inode: Inode): boolean {
    if (!this.#inodes.delete(inode.id)) return false;
    this.#memory -= memoryOfInode(inode);
    this.size--;
    if (this.#sizeBelow(inode.id) !== undefined) this.#removed.add(inode.id);
    if (inode.ino < FIRST_INO) this.#countKeptIno(inode.ino, -1);
    return true;
  }

  #countKeptIno(ino: number, more: number): void {
    const count = (this.#keptInos.get(ino) ?? 0) + more;
    if (count === 0) this.#keptInos.delete(ino);
    else this.#keptInos.set(ino, count);
  }

  /**
   * Unlinked inodes, left by a crash between unlink and last close, or open when the table was frozen. `below`: those
   * of the parent.
   */
  unlinked(below: readonly number[] = []): Inode[] {
    return complete(this.findingUnlinked(below));
  }

  /** As `unlinked`, in steps. */
  *findingUnlinked(below: readonly number[] = []): Steps<Inode[]> {
    const counted = new Counted(AT_ONCE);
    // Only copied inodes can have become unlinked here.
    for (const id of below) this.get(id);
    const found: Inode[] = [];
    for (const inode of this.#inodes.values()) {
      if (inode.id !== ROOT_ID && inode.names === 0) found.push(inode);
      yield* counted.one();
    }
    return found;
  }

  /**
   * Decides which directories from the journal of an older server are opaque: those below whose path the sandbox
   * removed something or moved a directory away.
   */
  resolveMerges(): void {
    complete(this.resolvingMerges());
  }

  /** As `resolveMerges`, in steps. */
  *resolvingMerges(): Steps<void> {
    const counted = new Counted(AT_ONCE);
    const unknown = new Set<Inode>();
    for (const inode of this.#inodes.values()) {
      if (inode.isDirectory && inode.merges === undefined) unknown.add(inode);
      yield* counted.one();
    }
    if (unknown.size === 0) return;
    for (const dir of unknown) dir.merges = true;
    const hidden = new Set<ByteString>();
    for (const [path] of this.baseVersions.entries()) {
      for (const above of ancestorsOf(path)) hidden.add(above);
      yield* counted.one();
    }
    for (const { origin } of this.found()) {
      for (const each of origin === undefined ? [] : [origin, ...ancestorsOf(origin)]) hidden.add(each);
      yield* counted.one();
    }
    for (const path of hidden) {
      const dir = this.#directoryAt(path);
      if (dir !== undefined && unknown.has(dir)) dir.merges = false;
      yield* counted.one();
    }
  }

  #directoryAt(path: ByteString): Inode | undefined {
    let dir = this.get(ROOT_ID);
    for (const name of splitPath(path)) {
      const entry: Inode | typeof WHITEOUT | undefined = dir?.entries?.get(name);
      if (entry === undefined || entry === WHITEOUT) return undefined;
      dir = entry;
    }
    return dir;
  }

  /** The table as the shortest equivalent journal. */
  *snapshot(): Generator<Op[]> {
    for (const inode of this.found()) {
      const { id, ino, mode, uid, gid } = inode;
      yield [['new', id, ino, mode, uid, gid, timesOf(inode), bodyOf(inode)]];
    }
    for (const inode of this.found()) {
      if (inode.entries === undefined) continue;
      for (const [name, entry] of inode.entries.found()) {
        yield [entry === WHITEOUT ? ['hide', inode.id, name] : ['link', inode.id, name, entry.id]];
      }
    }
    for (const key of this.#aliasKeys()) {
      const inode = this.#aliasOf(key);
      if (inode === undefined) continue;
      const [dev, ino] = key.split(':').map(Number) as [number, number];
      yield [['alias', inode.id, dev, ino, inode.aliases]];
    }
    for (const [path, identity] of this.baseVersions.entries()) yield [['seen', path, ...identity]];
    if (this.rebased !== undefined) yield [['rebased', this.rebased.commit, this.rebased.stage]];
  }

  #create([, id, ino, mode, uid, gid, t, body]: OpNamed<'new'>): void {
    if (this.get(id) !== undefined) throw new Error(`inode ${id} made twice`);
    const [atime, mtime, ctime] = [time(t[0], t[1]), time(t[2], t[3]), time(t[4], t[5])];
    const inode = new Inode(this, id, ino, mode, uid, gid, atime, mtime, ctime);
    if (inode.isDirectory) {
      inode.origin = typeof body === 'string' ? body : undefined;
      inode.merges = body === null ? undefined : body === MERGES;
    } else if (typeof body === 'string') {
      inode.target = body;
      inode.size = body.length;
    } else if (typeof body === 'number') {
      inode.rdev = body;
    } else if (body !== null) {
      const [layer, data, slot, size, sec, nsec, sum] = body;
      inode.data = { layer, id: data, slot };
      inode.size = size;
      if (sec !== 0 || nsec !== 0) inode.hostMtime = time(sec, nsec);
      // An empty file may have had no data file.
      inode.expected = slot >= 0 ? sum : size || undefined;
      this.nextId = Math.max(this.nextId, data + 1);
    }
    this.#inodes.set(id, inode);
    this.#memory += memoryOfInode(inode);
    this.size++;
    this.nextId = Math.max(this.nextId, id + 1);
    if (ino >= FIRST_INO) this.nextIno = Math.max(this.nextIno, ino + 1);
    else this.#countKeptIno(ino, 1);
  }

  #setOrigin(dir: Inode, to: OpNamed<'origin'>[2]): void {
    const before = dir.origin?.length ?? 0;
    dir.origin = typeof to === 'string' ? to : undefined;
    this.#memory += (dir.origin?.length ?? 0) - before;
    dir.merges = to === MERGES;
  }

  #setAttr([, id, mode, uid, gid, t, hostSec, hostNsec, hostSize = -1]: OpNamed<'attr'>): void {
    const inode = this.#require(id);
    if (inode.mode !== mode) inode.writes++;
    inode.mode = mode;
    inode.uid = uid;
    inode.gid = gid;
    inode.atime = time(t[0], t[1]);
    inode.mtime = time(t[2], t[3]);
    inode.ctime = time(t[4], t[5]);
    const hasFile = hostSec !== 0 || hostNsec !== 0;
    inode.hostMtime = hasFile ? time(hostSec, hostNsec) : undefined;
    if (hasFile && inode.data !== undefined && inode.data.slot < 0) inode.expected = hostSize;
  }

  #setData([, id, layer, data, slot, size, sec, nsec, sum]: OpNamed<'data'>): void {
    const inode = this.#require(id);
    const { data: before, size: held } = inode;
    this.#place(inode, layer, data, slot);
    if (slot >= 0 && inode.data === before && size < held) inode.shortened = true;
    inode.expected = slot >= 0 ? sum : undefined;
    inode.size = size;
    inode.mtime = inode.ctime = time(sec, nsec);
    inode.writes++;
  }

  #place(inode: Inode, layer: string, id: number, slot: number): void {
    const known = inode.data;
    if (known?.slot === slot && known.id === id && known.layer === layer) return;
    // Moving from slot to slot keeps the checksum.
    const sum = slot >= 0 && known !== undefined && known.slot >= 0 ? inode.expected : undefined;
    inode.data = { layer, id, slot };
    inode.expected = sum;
    this.nextId = Math.max(this.nextId, id + 1);
  }

  #setAliases(inode: Inode, key: string, left: number): void {
    inode.aliases = left;
    if (left > 0) this.#aliases.set(key, inode);
    else if (this.#parent === undefined) this.#aliases.delete(key);
    else this.#aliases.set(key, undefined);
  }

  #link(dir: Inode, name: ByteString, inode: Inode): void {
    this.#removeEntry(dir, name);
    this.#memory += dir.entries!.set(name, inode) * memoryOfName(name);
    inode.addLink(dir, name);
    if (inode.linkCount > 1) this.#memory += HARD_LINK_BYTES;
    if (inode.isDirectory) dir.subdirs++;
    lengthen(dir, name.length + (inode.reach > 0 ? 1 + inode.reach : 0));
  }

  #removeEntry(dir: Inode, name: ByteString): void {
    const inode = dir.entries!.get(name);
    if (inode === undefined) return;
    this.#memory += dir.entries!.delete(name) * memoryOfName(name);
    if (inode === WHITEOUT) return;
    if (inode.linkCount > 1) this.#memory -= HARD_LINK_BYTES;
    inode.removeLink(dir, name);
    if (inode.isDirectory) dir.subdirs--;
  }

  #require(id: number): Inode {
    const inode = this.get(id);
    if (inode === undefined) throw new Error(`no inode ${id}`);
    return inode;
  }

  #requireDirectory(id: number): Inode {
    const inode = this.#require(id);
    if (!inode.isDirectory) throw new Error(`inode ${id} is no directory`);
    return inode;
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

function time(sec: number, nsec: number): Time {
  return { sec, nsec };
}
