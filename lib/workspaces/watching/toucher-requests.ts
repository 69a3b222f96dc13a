import { type ByteString, toText } from '../../byte-string.ts';
import { PATIENCE_MS } from '../../fuse/connection/children.ts';
import type { Attr, Caller, Entry, FileSystem, StatFs } from '../../fuse/filesystem.ts';
import { EACCES, EEXIST, ENOENT, ESTALE } from '../../linux/errno.ts';
import { S_IFDIR, S_IFMT, S_IFREG } from '../../linux/mode.ts';
import { AGENT } from '../access/access.ts';
import { attrOf } from '../access/attr.ts';
import type { Node } from '../nodes/node.ts';
import { type NodeTable, ROOT_NODEID } from '../nodes/node-table.ts';
import { entryFor, visibleChild } from '../operations/entries.ts';
import { rootAttr } from '../operations/mount-root.ts';
import { requireRunning } from '../pause.ts';
import type { Workspace } from '../workspace.ts';
import { FORMER_FILES, MODES, SIGN_OFF, SIGN_ON, type TouchMode } from './touch-lines.ts';

/** Node ids of what the touchers alone see: above those of file systems' nodes, below those of parent directories. */
const FORMER_NODEID = 2 ** 51;
/** A toucher that was killed does not sign off; it is killed when it has been one for so long. */
const SIGNED_ON_MS = PATIENCE_MS;
const EPOCH = { sec: 0, nsec: 0 };

type WorkspaceNode = Node<Workspace> & { readonly workspace: Workspace };

interface Toucher {
  mode: TouchMode;
  /** Time until which it is one. */
  until: number;
  /** The name that it was given for removal. */
  gone?: { parent: number; name: ByteString } | undefined;
}

/**
 * The requests of the touchers: children of the server that do again, as system calls, what was changed from outside, so that the
 * kernel tells those who watch. Nothing is changed by it: the answers are those which the calls would have got. A toucher signs
 * on by its uid, 0, and a name in the mount's root, where only the host's root comes; then it is known by its pid.
 */
export class ToucherRequests implements FileSystem {
  readonly #nodes: NodeTable<Workspace>;
  /** By pid. */
  readonly #touchers = new Map<number, Toucher>();
  #nextId = FORMER_NODEID + 1;

  constructor(nodes: NodeTable<Workspace>) {
    this.#nodes = nodes;
  }

  /** Whether a lookup in the mount's root is one by which a toucher begins or ends. */
  sign({ uid, pid }: Caller, name: ByteString): boolean {
    if (uid !== 0 || (name !== SIGN_ON && name !== SIGN_OFF)) return false;
    if (name === SIGN_ON) this.#touchers.set(pid, { mode: 'plain', until: performance.now() + SIGNED_ON_MS });
    else this.#touchers.delete(pid);
    return true;
  }

  isToucher({ uid, pid }: Caller): boolean {
    if (uid !== 0 || this.#touchers.size === 0) return false;
    const toucher = this.#touchers.get(pid);
    if (toucher === undefined || toucher.until > performance.now()) return toucher !== undefined;
    return !this.#touchers.delete(pid);
  }

  lookup({ pid }: Caller, parent: number, name: ByteString): Entry {
    if (parent === FORMER_NODEID) return this.#formerFile(name);
    const mode = MODES.get(name);
    const toucher = this.#touchers.get(pid)!;
    if (mode !== undefined) {
      toucher.mode = mode;
      throw ENOENT;
    }
    if (name === FORMER_FILES) return phantom(FORMER_NODEID, S_IFDIR);
    const dir = this.#directory(parent);
    const node = visibleChild(dir.workspace, AGENT, dir, name);
    const now = toucher.mode;
    if (now === 'made') throw ENOENT;
    if (node !== undefined) return entryFor(dir.workspace, AGENT, node);
    if (now !== 'goneFile' && now !== 'goneDirectory') throw ENOENT;
    toucher.gone = { parent, name };
    return this.#gone(dir, name, now === 'goneFile');
  }

  forget(): void {}

  getattr(_caller: Caller, nodeid: number): Attr {
    if (nodeid === ROOT_NODEID) return rootAttr();
    if (nodeid >= FORMER_NODEID) return phantom(nodeid, S_IFDIR).attr;
    const node = this.#node(nodeid);
    return linked(attrOf(node.workspace, AGENT, node));
  }

  setattr(caller: Caller, nodeid: number): Attr {
    return this.getattr(caller, nodeid);
  }

  create(_caller: Caller, parent: number, name: ByteString, mode: number): Entry {
    const dir = this.#directory(parent);
    const node = visibleChild(dir.workspace, AGENT, dir, name);
    if (node === undefined || node.type !== (mode & S_IFMT || S_IFREG)) throw ENOENT;
    return entryFor(dir.workspace, AGENT, node);
  }

  mknod = this.create;

  mkdir(caller: Caller, parent: number, name: ByteString): Entry {
    return this.create(caller, parent, name, S_IFDIR);
  }

  symlink(caller: Caller, parent: number, name: ByteString): Entry {
    return this.create(caller, parent, name, 0o120000);
  }

  /**
   * Only of what `lookup` gave for it: the kernel may not know yet that the name has gone, and would end the watches on a file, or
   * the use of a directory, that has another name by now. After ESTALE it looks the name up.
   */
  unlink({ pid }: Caller, parent: number, name: ByteString): void {
    const toucher = this.#touchers.get(pid)!;
    const { gone } = toucher;
    toucher.gone = undefined;
    if (gone?.parent !== parent || gone.name !== name) throw ESTALE;
    const dir = this.#directory(parent);
    if (visibleChild(dir.workspace, AGENT, dir, name) !== undefined) throw EEXIST;
  }

  rmdir(caller: Caller, parent: number, name: ByteString): void {
    this.unlink(caller, parent, name);
  }

  readlink(): Buffer {
    throw EACCES;
  }
  link(): Entry {
    throw EACCES;
  }
  rename(): void {
    throw EACCES;
  }
  read(): number {
    throw EACCES;
  }
  write(): number {
    throw EACCES;
  }
  fsync(): void {
    throw EACCES;
  }
  statfs(): StatFs {
    throw EACCES;
  }
  readdir(): void {
    throw EACCES;
  }

  /** A file by its node id, whatever its name is now: programs may watch one that was replaced. */
  #formerFile(name: ByteString): Entry {
    const node = this.#node(Number(toText(name)));
    if (node.type !== S_IFREG || node.nlookup === 0) throw ENOENT;
    return former(node);
  }

  /** What had a name: the kernel's node, if programs have it open or watch it, else one that nobody else sees. */
  #gone(dir: WorkspaceNode, name: ByteString, isFile: boolean): Entry {
    for (const node of dir.workspace.tree.orphans) {
      const { lastLink, isDirectory, nlookup } = node;
      const same = lastLink?.parent === dir && lastLink.name === name && isDirectory !== isFile;
      if (same && nlookup > 0) return former(node as WorkspaceNode);
    }
    return phantom(this.#nextId++, isFile ? S_IFREG : S_IFDIR);
  }

  #directory(nodeid: number): WorkspaceNode {
    const node = this.#node(nodeid);
    if (!node.isDirectory) throw ENOENT;
    return node;
  }

  #node(nodeid: number): WorkspaceNode {
    const node = this.#nodes.get(nodeid) as WorkspaceNode;
    if (!node.workspace?.isOpen) throw ESTALE;
    requireRunning(node.workspace);
    return node;
  }
}

function former(node: WorkspaceNode): Entry {
  const { nodeid, attr } = entryFor(node.workspace, AGENT, node);
  return { nodeid, attr: linked(attr), seconds: 0 };
}

/** The kernel ends the watches on a file without links as soon as it drops a name of it. */
function linked(attr: Attr): Attr {
  return { ...attr, nlink: Math.max(1, attr.nlink) };
}

function phantom(nodeid: number, type: number): Entry {
  const times = { atime: EPOCH, mtime: EPOCH, ctime: EPOCH };
  const attr = { ino: nodeid, size: 0, blocks: 0, ...times, mode: type | 0o700, nlink: 1, uid: 0, gid: 0, rdev: 0 };
  return { nodeid, attr, seconds: 0 };
}
