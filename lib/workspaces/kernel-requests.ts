import { type ByteString, toText } from '../byte-string.ts';
import type { Attr, Caller, EmitDirent, Entry, FileSystem, SetAttr, StatFs } from '../fuse/filesystem.ts';
import { EACCES, EPERM } from '../linux/errno.ts';
import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFMT, S_IFREG } from '../linux/mode.ts';
import { AGENT, type AgentAccess } from './access/access.ts';
import type { AttachedWorkspaces } from './attached-workspaces.ts';
import { openBeside } from './home.ts';
import type { Node } from './nodes/node.ts';
import { ROOT_NODEID } from './nodes/node-table.ts';
import { getattr, setattr } from './operations/attributes.ts';
import { fsync, read, readlink, write } from './operations/contents.ts';
import { lookup, readdir } from './operations/directory.ts';
import { createNode, entryFor, link, symlink } from './operations/entries.ts';
import { readRoot, rootAttr } from './operations/mount-root.ts';
import { openExisting } from './operations/open-existing.ts';
import { recordAsked, recordingRefusal } from './operations/refused.ts';
import { rmdir, unlink } from './operations/removal.ts';
import { rename } from './operations/rename.ts';
import { statfs } from './operations/statfs.ts';
import { requireNotHeld, requireRunning } from './pause.ts';
import type { Workspace } from './workspace.ts';

/**
 * The kernel's requests to the workspaces of one mount. The root has a directory for each, by its id: for its own uid
 * and, by name only (for bind mounts), for root. See `FileSystem` for threads and errors.
 */
export class KernelRequests implements FileSystem {
  protected readonly workspaces: AttachedWorkspaces;
  /** The access of every kernel request. By its type it cannot be the owner's. */
  readonly #access: AgentAccess = AGENT;

  constructor(workspaces: AttachedWorkspaces) {
    this.workspaces = workspaces;
  }

  flowOf(nodeid: number): Workspace | undefined {
    return this.workspaces.nodes.find(nodeid)?.workspace;
  }

  serving(caller: Caller): FileSystem | undefined {
    const { touchers } = this.workspaces;
    return touchers.isToucher(caller) ? touchers : undefined;
  }

  lookup(caller: Caller, parent: number, name: ByteString): Entry | undefined {
    if (parent !== ROOT_NODEID) {
      const node = this.#nodeFor(caller, parent);
      return lookup(node.workspace, this.#access, node, name);
    }
    if (this.workspaces.touchers.sign(caller, name)) return undefined;
    const workspace = this.workspaces.named(toText(name));
    const place = workspace ? undefined : this.workspaces.places.lookup(caller, toText(name));
    if (place !== undefined) return place;
    if (caller.uid !== 0 && !isOwner(caller, workspace)) throw EACCES;
    if (workspace === undefined) return undefined;
    requireNotHeld(workspace);
    this.workspaces.current.set(workspace.spec.id);
    if (!workspace.isOpen) openBeside(workspace);
    return entryFor(workspace, this.#access, workspace.tree.root);
  }

  forget(nodeid: number, nlookup: number): void {
    this.workspaces.forget(nodeid, nlookup);
  }

  getattr(caller: Caller, nodeid: number): Attr {
    if (nodeid === ROOT_NODEID) return rootAttr();
    const place = this.workspaces.places.getattr(caller, nodeid);
    if (place !== undefined) return place;
    const node = this.workspaces.nodes.get(nodeid);
    if (!isOfWorkspace(node)) throw EACCES;
    const { workspace } = this.#opened(node);
    // A container daemon bind-mounts the workspace's directory as root.
    if (caller.uid !== 0 || node !== workspace.tree.root) requireOwner(caller, workspace);
    const attr = getattr(workspace, this.#access, node);
    if (caller.uid !== 0) recordAsked(workspace, node);
    return attr;
  }

  setattr(caller: Caller, nodeid: number, changes: SetAttr): Attr {
    const node = this.#nodeFor(caller, nodeid);
    return recordingRefusal(node.workspace, () => setattr(node.workspace, this.#access, node, changes), node);
  }

  readlink(caller: Caller, nodeid: number): Buffer {
    const node = this.#nodeFor(caller, nodeid);
    return readlink(node.workspace, this.#access, node);
  }

  create(caller: Caller, parent: number, name: ByteString, mode: number, flags: number): Entry {
    const dir = this.#nodeFor(caller, parent);
    const run = () =>
      openExisting(dir.workspace, this.#access, dir, name, flags) ??
      createNode(dir.workspace, this.#access, caller, dir, name, S_IFREG | (mode & 0o7777));
    return recordingRefusal(dir.workspace, run, [dir, name]);
  }

  mknod(caller: Caller, parent: number, name: ByteString, mode: number, rdev: number): Entry {
    const dir = this.#nodeFor(caller, parent);
    const type = mode & S_IFMT || S_IFREG;
    // The mount has the option nodev, so devices do not work; sandboxes still must not create any.
    if ((type === S_IFCHR || type === S_IFBLK) && !dir.workspace.spec.anyUid) throw EPERM;
    const bits = type | (mode & 0o7777);
    const run = () => createNode(dir.workspace, this.#access, caller, dir, name, bits, { rdev });
    return recordingRefusal(dir.workspace, run, [dir, name]);
  }

  mkdir(caller: Caller, parent: number, name: ByteString, mode: number): Entry {
    const dir = this.#nodeFor(caller, parent);
    const bits = S_IFDIR | (mode & 0o7777);
    const run = () => createNode(dir.workspace, this.#access, caller, dir, name, bits);
    return recordingRefusal(dir.workspace, run, [dir, name]);
  }

  symlink(caller: Caller, parent: number, name: ByteString, target: Buffer): Entry {
    const dir = this.#nodeFor(caller, parent);
    const run = () => symlink(dir.workspace, this.#access, caller, dir, name, target);
    return recordingRefusal(dir.workspace, run, [dir, name]);
  }

  link(caller: Caller, nodeid: number, newparent: number, newname: ByteString): Entry {
    const node = this.#nodeFor(caller, nodeid);
    const dir = this.#nodeFor(caller, newparent);
    if (node.workspace !== dir.workspace) throw EACCES;
    const run = () => link(dir.workspace, this.#access, node, dir, newname);
    return recordingRefusal(dir.workspace, run, [dir, newname], node);
  }

  unlink(caller: Caller, parent: number, name: ByteString): void {
    const dir = this.#nodeFor(caller, parent);
    recordingRefusal(dir.workspace, () => unlink(dir.workspace, this.#access, dir, name), [dir, name]);
  }

  rmdir(caller: Caller, parent: number, name: ByteString): void {
    const dir = this.#nodeFor(caller, parent);
    recordingRefusal(dir.workspace, () => rmdir(dir.workspace, this.#access, dir, name), [dir, name]);
  }

  rename(
    caller: Caller,
    parent: number,
    name: ByteString,
    newparent: number,
    newname: ByteString,
    flags: number,
  ): void {
    const from = this.#nodeFor(caller, parent);
    const to = this.#nodeFor(caller, newparent);
    // Nothing may be moved between sandboxes.
    if (from.workspace !== to.workspace) throw EACCES;
    const run = () => rename(from.workspace, this.#access, from, name, to, newname, flags);
    const rest = recordingRefusal(from.workspace, run, [from, name], [to, newname]);
    if (rest !== undefined) this.workspaces.finishLater(from.workspace, rest);
  }

  read(caller: Caller, nodeid: number, offset: number, into: Buffer): number {
    const node = this.#fileFor(caller, nodeid);
    return read(node.workspace, this.#access, node, offset, into);
  }

  write(caller: Caller, nodeid: number, offset: number, data: Buffer, killSuidgid: boolean): number {
    const node = this.#fileFor(caller, nodeid);
    return write(node.workspace, this.#access, node, offset, data, killSuidgid);
  }

  fsync(caller: Caller, nodeid: number, datasync: boolean): void {
    const node = this.#fileFor(caller, nodeid);
    fsync(node.workspace, node, datasync);
  }

  statfs(caller: Caller, nodeid: number): StatFs {
    if (nodeid === ROOT_NODEID) return statfs(undefined);
    return statfs(this.#nodeFor(caller, nodeid).workspace);
  }

  readdir(caller: Caller, nodeid: number, cookie: number, plus: boolean, emit: EmitDirent): void {
    if (nodeid === ROOT_NODEID) {
      readRoot(caller, cookie, emit);
      return;
    }
    const node = this.#nodeFor(caller, nodeid);
    readdir(node.workspace, this.#access, node, cookie, plus, emit);
  }

  /**
   * Returns a node of a workspace for its user. Throws EACCES for the mount's root, in which nothing can be created,
   * and for other users.
   */
  #nodeFor(caller: Caller, nodeid: number): WorkspaceNode {
    const node = this.workspaces.nodes.get(nodeid);
    if (!isOfWorkspace(node)) throw EACCES;
    requireOwner(caller, node.workspace);
    return this.#opened(node);
  }

  /** As `#nodeFor`, and also for the kernel itself: read-ahead and write-back of pages have uid 0 and no process. */
  #fileFor(caller: Caller, nodeid: number): WorkspaceNode {
    return caller.uid === 0 && caller.pid === 0 ? this.#kernelNode(nodeid) : this.#nodeFor(caller, nodeid);
  }

  #kernelNode(nodeid: number): WorkspaceNode {
    const node = this.workspaces.nodes.get(nodeid);
    if (!isOfWorkspace(node)) throw EACCES;
    return this.#opened(node, requireNotHeld);
  }

  /** The root of a place is known to the kernel before its workspace was opened. */
  #opened(node: WorkspaceNode, requireFree: (workspace: Workspace) => void = requireRunning): WorkspaceNode {
    const { workspace } = node;
    requireFree(workspace);
    this.workspaces.current.set(workspace.spec.id);
    if (!workspace.isOpen) {
      openBeside(workspace);
      void workspace.tree;
    }
    return node;
  }
}

/** A node other than the mount's root. */
type WorkspaceNode = Node<Workspace> & { readonly workspace: Workspace };

function isOfWorkspace(node: Node<Workspace>): node is WorkspaceNode {
  return node.workspace !== undefined;
}

function isOwner(caller: Caller, workspace: Workspace | undefined): boolean {
  return workspace !== undefined && (caller.uid === workspace.spec.uid || workspace.spec.anyUid === true);
}

function requireOwner(caller: Caller, workspace: Workspace): void {
  if (!isOwner(caller, workspace)) throw EACCES;
}
