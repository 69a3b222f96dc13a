// Size: one change with all that it can have; each method stages one operation.

import { type ByteString, fromBuffer, joinPath } from '../../byte-string.ts';
import { complete, StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory, S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import type { BaseStat } from '../base/base.ts';
import { hidesDirectory, isBaseDirectory } from '../base/merged-base.ts';
import { NO_SLOT } from '../delta/contents/stored-file.ts';
import { identityOf } from '../delta/index/base-versions.ts';
import type { Inode } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import { memoryOf } from '../delta/index/memory.ts';
import { type Body, type FileBody, MERGES, OPAQUE, type Op, type OpNamed, timesOf } from '../delta/index/records.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import type { LayeredNode } from '../nodes/layered-node.ts';

/** Copied-up nodes processed in one step. */
const ITEMS_PER_STEP = 16;

/** The fields of a new directory, symlink or device that depend on its type. */
export interface Special {
  /** Directory: see `mergesAt`. */
  merges?: boolean;
  target?: ByteString;
  rdev?: number;
  /** Absent: the time of the change. */
  mtime?: Time | undefined;
}

interface Staged {
  id: number;
  /** Location of contents that were copied already. */
  contents: FileBody | undefined;
}

/**
 * An atomic change of the delta: operations, and the copy-ups that they need (with all parent directories). Nothing
 * persistent happens before the commit; if staging or commit throws, copied contents are discarded.
 */
export class Change {
  /** Time of the change. */
  readonly now: Time;
  readonly #workspace: LayeredWorkspace;
  readonly #ops: Op[] = [];
  readonly #staged = new Map<LayeredNode, Staged>();
  #newInodes = 0;
  #newBytes = 0;
  #memory = 0;

  private constructor(workspace: LayeredWorkspace) {
    this.#workspace = workspace;
    this.now = workspace.now();
  }

  /**
   * Stages operations by `stage`, commits them, and returns the result of `stage`. `makesRoom`: the change frees space,
   * so a full disk does not prevent it and it may exceed the memory limit a little. Throws what `stage` throws, EDQUOT,
   * Postponed and host errors, with nothing changed.
   */
  static make<T>(workspace: LayeredWorkspace, stage: (change: Change) => T, makesRoom = false): T {
    const change = new Change(workspace);
    try {
      const result = stage(change);
      change.#commit(makesRoom);
      return result;
    } catch (error) {
      change.#abandon();
      throw error;
    }
  }

  /** As `make`, of many operations in steps. The caller holds the workspace. */
  static *making(workspace: LayeredWorkspace, stage: (change: Change) => Steps<void>): Steps<void> {
    const change = new Change(workspace);
    try {
      yield* stage(change);
      change.#claim(false);
      yield* workspace.delta.committing(change.#ops);
    } catch (error) {
      change.#abandon();
      throw error;
    }
    yield* change.#finishing();
  }

  #abandon(): void {
    const { delta } = this.#workspace;
    for (const { contents } of this.#staged.values()) if (contents !== undefined) delta.copyIn.discard(contents);
  }

  /** Creates an unlinked inode and returns its id. */
  create(mode: number, uid: number, gid: number, { target, rdev, merges, mtime }: Special): number {
    const { table } = this.#workspace.delta;
    const id = this.#workspace.delta.table.newId();
    const type = mode & S_IFMT;
    const body: Body =
      type === S_IFREG ? this.#empty(id) : type === S_IFDIR ? (merges ? MERGES : OPAQUE) : (target ?? rdev ?? 0);
    const { now } = this;
    const times = timesOf({ atime: mtime ?? now, mtime: mtime ?? now, ctime: now });
    this.#add(['new', id, table.nextIno++, mode, uid, gid, times, body]);
    this.#newInodes++;
    this.#newBytes += target?.length ?? 0;
    return id;
  }

  /** Creates an unlinked file with contents of `CopyIn.put`, which the caller then adopts, and returns its id. */
  createFile(mode: number, { uid, gid }: { uid: number; gid: number }, mtime: Time, contents: FileBody): number {
    const times = timesOf({ atime: mtime, mtime, ctime: this.now });
    this.#add(['new', contents[1], this.#workspace.delta.table.nextIno++, mode, uid, gid, times, contents]);
    this.#newInodes++;
    this.#newBytes += contents[3];
    return contents[1];
  }

  /** Returns the id of a directory in the index; copies it up with its parents if necessary. */
  directory(node: LayeredNode): number {
    let known = this.#idOf(node);
    if (known !== undefined) return known;
    // The tree can be deeper than the stack, so there is no recursion.
    const missing: LayeredNode[] = [];
    for (let at: LayeredNode | undefined = node; at !== undefined && this.#idOf(at) === undefined; at = at.parent)
      missing.push(at);
    for (const dir of missing.reverse()) {
      const link = dir.links[0];
      known = dir === this.#workspace.tree.root ? ROOT_ID : this.#workspace.delta.table.newId();
      this.#stage(dir, known, dir.basePath ?? null);
      if (link !== undefined) this.#add(['link', this.#idOf(link.parent)!, link.name, known]);
    }
    return known!;
  }

  #idOf(node: LayeredNode): number | undefined {
    return node.inode?.id ?? this.#staged.get(node)?.id;
  }

  /**
   * Returns the id of a node in the index; copies it up if necessary, a file without `contents` as an empty one. Throws
   * EDQUOT, Postponed while a large file is copied, ESTALE and host errors.
   */
  node(node: LayeredNode, contents = true): number {
    if (node.isDirectory) return this.directory(node);
    const known = node.inode?.id ?? this.#staged.get(node)?.id;
    if (known !== undefined) return known;
    const id = this.#workspace.delta.table.newId();
    const copied = contents && node.type === S_IFREG && node.requireBase().size > 0 ? this.#copy(node, id) : undefined;
    return this.#copyUp(node, id, copied);
  }

  /** Copies a base file up with these contents, at most `SMALL` bytes, in place of its own; returns its id. */
  nodeWith(node: LayeredNode, contents: Buffer): number {
    const { delta } = this.#workspace;
    const id = delta.table.newId();
    delta.claims.bytes(contents.length);
    delta.claims.inodes(1);
    this.#newBytes += contents.length;
    return this.#copyUp(node, id, contents.length > 0 ? delta.copyIn.put(contents, id) : undefined);
  }

  #copyUp(node: LayeredNode, id: number, copied: FileBody | undefined): number {
    this.#stage(node, id, copied ?? this.#bodyOf(node, id), copied);
    for (const { parent, name } of node.links) {
      this.#add(['link', this.directory(parent), name, id]);
      this.#recordBaseVersion(parent, name, node.requireBase());
    }
    const { dev, ino, nlink } = node.requireBase();
    const left = nlink - node.links.length;
    if (left > 0 && node.links.length > 0) this.#add(['alias', id, dev, ino, left]);
    return id;
  }

  /** Links an inode; replaces an existing link of the name. */
  link(dir: LayeredNode, name: ByteString, id: number): void {
    this.#add(['link', this.directory(dir), name, id]);
  }

  /** As `link`, in a directory that this change creates. */
  linkIn(dir: number, name: ByteString, id: number): void {
    this.#add(['link', dir, name, id]);
  }

  /**
   * Called before a directory is renamed: its origin moves with it, and a base directory at the new path stays hidden.
   * A directory whose base directory no longer exists becomes like a new one. Returns true if it merges with nothing of
   * the base from then on.
   */
  moveDirectory(node: LayeredNode, toDir: LayeredNode, toName: ByteString): boolean {
    this.#workspace.hasMoved = true;
    const { inode } = node;
    if (inode === undefined || (inode.origin === undefined && !inode.merges)) return false;
    const merged = inode.origin ?? node.basePath;
    if (merged !== undefined && isBaseDirectory(this.#workspace.base, merged)) {
      if (inode.origin === undefined) this.#add(['origin', inode.id, merged]);
      return false;
    }
    const hides = hidesDirectory(this.#workspace, toDir, toName);
    if (hides || inode.origin !== undefined) this.#add(['origin', inode.id, hides ? OPAQUE : MERGES]);
    return node.basePath !== undefined;
  }

  /** Unlinks an existing name, with a whiteout if the base has it. */
  unlink(dir: LayeredNode, name: ByteString): void {
    const id = this.directory(dir);
    const { base, delta } = this.#workspace;
    const below = dir.basePath === undefined ? undefined : base.lstat(joinPath(dir.basePath, name));
    this.#add([below === undefined ? 'drop' : 'hide', id, name]);
    const entry = dir.inode?.entries?.get(name);
    // A directory in the delta may have been merged with it.
    if (below !== undefined && (entry === undefined || entry?.isDirectory)) this.#recordBaseVersion(dir, name, below);
    if (below === undefined || below.nlink < 2 || dir.inode?.entries?.has(name)) return;
    const inode = delta.table.alias(below.dev, below.ino);
    if (inode !== undefined) this.#add(['alias', inode.id, below.dev, below.ino, inode.aliases - 1]);
  }

  /** See `Inode.isAgentText`. */
  text(id: number, keys: readonly string[]): void {
    this.#add(['text', id, ...keys]);
  }

  untext(id: number): void {
    this.#add(['untext', id]);
  }

  /** Updates mtime and ctime of a directory. */
  touch(dir: LayeredNode): void {
    this.#add(['touch', this.directory(dir), this.now.sec, this.now.nsec]);
  }

  /** Updates the ctime of an inode. */
  ctime(id: number): void {
    this.#add(['ctime', id, this.now.sec, this.now.nsec]);
  }

  /** Sets attributes of a node; copies it up if necessary. */
  attr(
    node: LayeredNode,
    to: Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime' | 'ctime'>,
    contents = true,
  ): void {
    if (node.isDirectory && to.mode !== node.shown.mode) this.#recordBaseMode(node);
    if (node.inode !== undefined) {
      this.#add(this.#workspace.delta.attrOp(node.inode, to, node.fd === -1 ? undefined : node.fd));
      return;
    }
    const id = this.node(node, contents);
    const staged = this.#ops.find((op) => op[0] === 'new' && op[1] === id) as OpNamed<'new'>;
    [staged[3], staged[4], staged[5], staged[6]] = [to.mode, to.uid, to.gid, timesOf(to)];
  }

  #add(op: Op): void {
    this.#ops.push(op);
    this.#memory += memoryOf(op);
  }

  /**
   * Records the base version, which a commit is compared with: from now on the sandbox does not see the base at this
   * path.
   */
  #recordBaseVersion(dir: LayeredNode, name: ByteString, base: BaseStat): void {
    if (dir.basePath === undefined) return;
    const path = joinPath(dir.basePath, name);
    if (this.#workspace.delta.table.baseVersions.get(path) === undefined)
      this.#add(['seen', path, ...identityOf(base)]);
  }

  /** Records the base version of a directory whose mode the sandbox changes. */
  #recordBaseMode(node: LayeredNode): void {
    const link = node.links[0];
    if (link === undefined || node.basePath === undefined || link.parent.basePath === undefined) return;
    if (node.basePath !== joinPath(link.parent.basePath, link.name)) return;
    const base = this.#workspace.base.lstat(node.basePath);
    if (base === undefined || !isDirectory(base.mode)) return;
    if (this.#workspace.delta.table.baseVersions.get(node.basePath) !== undefined) {
      if (node.inode?.mode !== base.mode) return;
      // The base has the sandbox's mode by now, so the change starts from that.
      this.#add(['unseen', node.basePath]);
    }
    this.#add(['seen', node.basePath, ...identityOf(base)]);
  }

  #stage(node: LayeredNode, id: number, body: Body, contents?: FileBody): void {
    const { ino, mode, uid, gid } = node.requireBase();
    this.#staged.set(node, { id, contents });
    this.#add(['new', id, ino, mode, uid, gid, timesOf(node.requireBase()), body]);
    this.#newInodes++;
  }

  #copy(node: LayeredNode, id: number): FileBody {
    const { base, delta, shared } = this.#workspace;
    const { size, holes } = node.requireBase();
    const fd = shared.files.of(node, () => base.open(node.requireBasePath(), node.requireBase()));
    delta.copyIn.wait(fd);
    delta.claims.bytes(size - holes);
    delta.claims.inodes(1);
    const copied = delta.copyIn.copy(fd, size, id);
    this.#newBytes += size - holes;
    return copied;
  }

  #bodyOf(node: LayeredNode, id: number): Body {
    if (node.type === S_IFLNK) return fromBuffer(this.#workspace.base.readlink(node.requireBasePath()));
    return node.type === S_IFREG ? this.#empty(id) : node.requireBase().rdev;
  }

  #empty(id: number): FileBody {
    return [this.#workspace.delta.layer, id, NO_SLOT, 0, 0, 0];
  }

  #commit(makesRoom: boolean): void {
    this.#claim(makesRoom);
    this.#workspace.delta.commit(this.#ops, makesRoom);
    if (this.#staged.size > 0) complete(this.#finishing());
    else this.#count();
  }

  #claim(makesRoom: boolean): void {
    const { delta, shared } = this.#workspace;
    delta.claims.inodes(this.#newInodes);
    delta.claims.bytes(this.#newBytes);
    if (!makesRoom) delta.claims.records(this.#newInodes);
    shared.memory.claim(this.#workspace, this.#memory, makesRoom);
  }

  #count(): void {
    this.#workspace.generation++;
    this.#workspace.countChange();
  }

  /** What was staged is the sandbox's own now. */
  *#finishing(): Steps<void> {
    const { delta, tree } = this.#workspace;
    this.#count();
    const counter = new StepCounter(ITEMS_PER_STEP);
    for (const [node, { id, contents }] of this.#staged) {
      const inode = delta.table.require(id);
      if (contents !== undefined) delta.copyIn.adopt(inode);
      tree.binding.copiedUp(node, inode);
      if (counter.count()) yield;
    }
  }
}
