import { constants } from 'node:os';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import { ServiceError } from '../../../lib/errors.ts';
import type { ControlledFileSystem } from '../../../lib/fuse/connection/control.ts';
import type { NotificationQueue } from '../../../lib/fuse/connection/notification-queue.ts';
import type { Attr, Caller, EmitDirent, Entry, Notifier, SetAttr, StatFs } from '../../../lib/fuse/filesystem.ts';
import { Errno } from '../../../lib/linux/errno.ts';
import type { Time } from '../../../lib/linux/time.ts';
import type { CurrentWorkspace } from '../../../lib/workspaces/current-workspace.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';

const S_IFDIR = 0o040000;
const S_IFREG = 0o100000;
const S_IFLNK = 0o120000;
const EMPTY = Buffer.alloc(0);
const { errno } = constants;
const errnos = new Map<keyof typeof errno, Errno>();

function refuse(name: keyof typeof errno): Errno {
  const known = errnos.get(name) ?? new Errno(errno[name]);
  errnos.set(name, known);
  return known;
}

interface MemoryNode {
  nodeid: number;
  attr: Attr;
  nlookup: number;
  parent: number;
  /** Entries of a directory: cookie and node by name. */
  children: Map<string, { cookie: number; node: MemoryNode }> | undefined;
  content: Buffer;
}

/**
 * Implements `FileSystem` in memory, to test the layers below it. Control methods: `attach` creates a directory of that id,
 * `setRules` fails as a file system may, `baseChanging` runs one of the scripted out-of-band changes.
 */
export class MemoryFileSystem implements ControlledFileSystem {
  readonly #notifier: Notifier;
  readonly #nodes = new Map<number, MemoryNode>();
  #nextId = 1;
  #nextCookie = 3;
  readonly root: MemoryNode;
  readonly #current: CurrentWorkspace | undefined;

  constructor(notifier: Notifier, current?: CurrentWorkspace) {
    this.#notifier = notifier;
    this.#current = current;
    this.root = this.#make({ uid: 0, gid: 0, pid: 0 }, S_IFDIR | 0o777, 1);
    this.root.nlookup = 1;
  }

  attach(spec: WorkspaceSpec): void {
    this.mkdir({ uid: spec.uid, gid: spec.uid, pid: 0 }, 1, spec.id, 0o777).nodeid;
    this.#nodes.get(1)!.children!.get(spec.id)!.node.nlookup--;
    this.#notifier.invalEntry(1, fromLatin1(spec.id));
    this.#notifier.invalInode(1);
  }

  detach(id: string): void {
    this.root.children?.delete(id);
    this.#notifier.invalEntry(1, fromLatin1(id));
    this.#notifier.invalInode(1);
  }

  setRules(id: string): void {
    if (!this.root.children?.has(id)) throw new ServiceError('INVALID_ARGUMENT', `permissions[0]: ${id}`, [{ id }]);
    this.#invalidateAll();
  }

  /** Changes the workspace with the codebase's id. paths[0]: 'crash' throws a non-Error; 'hang' never returns; 'exit' ends the thread. */
  baseChanging(codebaseId: string, paths: readonly string[]): void {
    this.#current?.set(codebaseId);
    if (paths[0] === 'crash') throw new TypeError('a defect');
    if (paths[0] === 'exit') process.exit(3);
    if (paths[0] === 'hang') for (;;);
  }

  /** Each path is "dir/name": the file is created or changed outside the mount, with its path as content. */
  baseChanged(_codebaseId: string, paths: readonly string[]): void {
    for (const path of paths) {
      const [dir = '', name = ''] = path.split('/');
      const parent = this.root.children?.get(dir)?.node;
      if (!parent?.children) throw new ServiceError('NOT_FOUND', `no directory ${dir}`);
      this.#remove(parent, name);
      this.#add(parent, name, this.#make({ uid: 0, gid: 0, pid: 0 }, S_IFREG | 0o666, parent.nodeid));
      parent.children.get(name)!.node.content = Buffer.from(path);
      parent.children.get(name)!.node.attr.size = path.length;
      this.#notifier.invalEntry(parent.nodeid, fromLatin1(name));
      this.#notifier.invalInode(parent.nodeid);
    }
  }

  /** bytes: nodes in the table; files: sum of lookup counts (the root's own not counted). */
  changes(): { changes: []; more: boolean } {
    return { changes: [], more: false };
  }

  copied(): void {}

  begin(): undefined {}

  control(operation: string, args: readonly unknown[]): unknown {
    const method = this[operation as keyof this] as (...args: readonly unknown[]) => unknown;
    return method.apply(this, [...args]);
  }

  toError(thrown: unknown): unknown {
    return thrown;
  }

  operationEnded(): void {
    this.#current?.clear();
  }

  requestEnded(): void {
    this.#current?.clear();
  }

  contents(): [] {
    return [];
  }

  revert(): number {
    return 0;
  }

  setCheckpoints(): void {}

  freeze(): never {
    throw new Error('not here');
  }

  rollback(): void {}

  layersRemoved(): void {}

  compact(): 'kept' {
    return 'kept';
  }

  renamed(): [] {
    return [];
  }

  trim(): boolean {
    return false;
  }

  preserveRemoved(): boolean {
    return false;
  }

  rebase(): void {}

  files(): undefined {}

  shownFrom(): undefined {
    return undefined;
  }

  usage(_id: string): { bytes: number; files: number } {
    let lookups = -1;
    for (const node of this.#nodes.values()) lookups += node.nlookup;
    return { bytes: this.#nodes.size, files: lookups };
  }

  syncAll(): void {}

  #invalidateAll(): void {
    for (const node of this.#nodes.values()) {
      this.#notifier.invalInode(node.nodeid);
      for (const [name, child] of node.children ?? [])
        if (child.node.nlookup > 0) this.#notifier.invalEntry(node.nodeid, fromLatin1(name));
    }
  }

  #make(caller: Caller, mode: number, parent: number): MemoryNode {
    const now = clock();
    const nodeid = this.#nextId++;
    const node: MemoryNode = {
      nodeid,
      parent,
      nlookup: 0,
      content: EMPTY,
      children: (mode & 0o170000) === S_IFDIR ? new Map() : undefined,
      attr: {
        ino: nodeid,
        size: 0,
        blocks: 0,
        atime: now,
        mtime: now,
        ctime: now,
        mode,
        nlink: 0,
        uid: caller.uid,
        gid: caller.gid,
        rdev: 0,
      },
    };
    this.#nodes.set(nodeid, node);
    return node;
  }

  #node(nodeid: number): MemoryNode {
    const node = this.#nodes.get(nodeid);
    if (!node) throw refuse('ESTALE');
    return node;
  }

  #dir(nodeid: number): NonNullable<MemoryNode['children']> {
    const { children } = this.#node(nodeid);
    if (!children) throw refuse('ENOTDIR');
    return children;
  }

  #add(parent: MemoryNode, name: string, node: MemoryNode): Entry {
    if (parent.children?.has(name)) throw refuse('EEXIST');
    parent.children?.set(name, { cookie: this.#nextCookie++, node });
    node.attr.nlink++;
    parent.attr.mtime = clock();
    return node;
  }

  #remove(parent: MemoryNode, name: string): void {
    const child = parent.children?.get(name);
    if (!child) return;
    parent.children?.delete(name);
    child.node.attr.nlink--;
    this.#drop(child.node);
  }

  #drop(node: MemoryNode): void {
    if (node.nlookup === 0 && node.attr.nlink === 0) this.#nodes.delete(node.nodeid);
  }

  #known(entry: Entry): Entry {
    (entry as MemoryNode).nlookup++;
    return entry;
  }

  lookup(_caller: Caller, parent: number, name: string): Entry | undefined {
    const child = this.#dir(parent).get(name);
    // Never answered; meanwhile the notifier has to invalidate the name of the workspace sb_1.
    if (parent === 1 && name === 'unanswered') {
      this.#notifier.invalEntry(1, fromText('sb_1'));
      (this.#notifier as NotificationQueue).flush();
      for (;;);
    }
    if (name.startsWith('defect')) throw new TypeError(`a defect in ${name}`);
    return child && this.#known(child.node);
  }

  forget(nodeid: number, nlookup: number): void {
    const node = this.#nodes.get(nodeid);
    if (!node) return;
    node.nlookup -= nlookup;
    this.#drop(node);
  }

  getattr(_caller: Caller, nodeid: number): Attr {
    return this.#node(nodeid).attr;
  }

  setattr(_caller: Caller, nodeid: number, changes: SetAttr): Attr {
    const node = this.#node(nodeid);
    const { attr } = node;
    if (changes.mode !== undefined) attr.mode = (attr.mode & 0o170000) | (changes.mode & 0o7777);
    if (changes.uid !== undefined) attr.uid = changes.uid;
    if (changes.gid !== undefined) attr.gid = changes.gid;
    if (changes.size !== undefined) this.#resize(node, changes.size);
    if (changes.atime) attr.atime = changes.atime === 'now' ? clock() : changes.atime;
    if (changes.mtime) attr.mtime = changes.mtime === 'now' ? clock() : changes.mtime;
    attr.ctime = clock();
    return attr;
  }

  #resize(node: MemoryNode, size: number): void {
    if (size > node.content.length) {
      const larger = Buffer.alloc(Math.max(size, node.content.length * 2, 4096));
      node.content.copy(larger, 0, 0, node.attr.size);
      node.content = larger;
    } else if (size < node.attr.size) {
      node.content.fill(0, size, node.attr.size);
    }
    node.attr.size = size;
    node.attr.blocks = Math.ceil(size / 512);
  }

  readlink(_caller: Caller, nodeid: number): Buffer {
    return this.#node(nodeid).content;
  }

  create(caller: Caller, parent: number, name: string, mode: number): Entry {
    return this.mknod(caller, parent, name, mode);
  }

  mknod(caller: Caller, parent: number, name: string, mode: number): Entry {
    return this.#known(this.#add(this.#node(parent), name, this.#make(caller, mode, parent)));
  }

  mkdir(caller: Caller, parent: number, name: string, mode: number): Entry {
    return this.mknod(caller, parent, name, S_IFDIR | (mode & 0o7777));
  }

  symlink(caller: Caller, parent: number, name: string, target: Buffer): Entry {
    const entry = this.mknod(caller, parent, name, S_IFLNK | 0o777);
    const node = this.#node(entry.nodeid);
    node.content = target;
    node.attr.size = target.length;
    return entry;
  }

  link(_caller: Caller, nodeid: number, newparent: number, newname: string): Entry {
    return this.#known(this.#add(this.#node(newparent), newname, this.#node(nodeid)));
  }

  unlink(_caller: Caller, parent: number, name: string): void {
    if (!this.#dir(parent).has(name)) throw refuse('ENOENT');
    this.#remove(this.#node(parent), name);
  }

  rmdir(_caller: Caller, parent: number, name: string): void {
    const child = this.#dir(parent).get(name);
    if (!child) throw refuse('ENOENT');
    if (child.node.children?.size) throw refuse('ENOTEMPTY');
    this.#remove(this.#node(parent), name);
  }

  rename(_caller: Caller, parent: number, name: string, newparent: number, newname: string, flags: number): void {
    const from = this.#node(parent);
    const to = this.#node(newparent);
    const child = from.children?.get(name);
    if (!child) throw refuse('ENOENT');
    if (flags & ~1) throw refuse('EINVAL');
    if (flags & 1 && to.children?.has(newname)) throw refuse('EEXIST');
    this.#remove(to, newname);
    this.#add(to, newname, child.node);
    child.node.parent = newparent;
    this.#remove(from, name);
  }

  read(_caller: Caller, nodeid: number, offset: number, into: Buffer): number {
    const { content, attr } = this.#node(nodeid);
    if (offset >= attr.size) return 0;
    return content.copy(into, 0, offset, Math.min(attr.size, offset + into.length));
  }

  write(_caller: Caller, nodeid: number, offset: number, data: Buffer): number {
    const node = this.#node(nodeid);
    const end = offset + data.length;
    if (end > node.attr.size) this.#resize(node, end);
    data.copy(node.content, offset);
    node.attr.mtime = clock();
    return data.length;
  }

  fsync(): void {}

  statfs(): StatFs {
    return { blocks: 1000, bfree: 500, bavail: 400, files: 300, ffree: 200, bsize: 4096, namelen: 255 };
  }

  readdir(_caller: Caller, nodeid: number, cookie: number, plus: boolean, emit: EmitDirent): void {
    const node = this.#node(nodeid);
    if (cookie < 1 && !emit(fromText('.'), 1, node.attr.ino, S_IFDIR >> 12, undefined)) return;
    if (cookie < 2 && !emit(fromText('..'), 2, node.parent, S_IFDIR >> 12, undefined)) return;
    for (const [name, child] of this.#dir(nodeid)) {
      if (child.cookie <= cookie) continue;
      const { attr } = child.node;
      if (!emit(fromLatin1(name), child.cookie, attr.ino, attr.mode >> 12, plus ? child.node : undefined)) return;
      if (plus) child.node.nlookup++;
    }
  }
}

function clock(): Time {
  const now = Date.now();
  return { sec: Math.floor(now / 1000), nsec: (now % 1000) * 1_000_000 };
}
