import { type ByteString, fromBuffer, NO_BYTES, splitPath } from '../../byte-string.ts';
import type { Caller } from '../../fuse/filesystem.ts';
import { EACCES, ENOENT } from '../../linux/errno.ts';
import { S_IFLNK } from '../../linux/mode.ts';
import { type Level, mayChangeName } from '../../permissions/index.ts';
import { type Access, AGENT } from '../access/access.ts';
import { ownershipOf } from '../access/attr.ts';
import { isVisibleNode } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import { readlink } from '../operations/contents.ts';
import { requireDirectory, visibleChild } from '../operations/entries.ts';
import type { Workspace } from '../workspace.ts';
import { ELOOP, escapesWorkspace } from './errors.ts';

/** MAXSYMLINKS of the kernel (include/linux/namei.h). */
const MAX_LINKS = 40;
/** Absolute symlinks are resolved as in a sandbox, where the workspace is mounted on /workspace. */
const MOUNT_NAME = 'workspace';

/** Mode bits, as in access(2). */
export const MAY_READ = 4;
export const MAY_WRITE = 2;
export const MAY_PASS = 1;

/** What a path resolves to. For the root of the workspace there is only the node. */
export interface ResolvedPath {
  dir: Node | undefined;
  name: ByteString;
  node: Node | undefined;
}

/** Creates a missing directory; undefined ends the walk there. */
type MakeMissing = (dir: Node, name: ByteString, rest: readonly ByteString[]) => Node | undefined;

/** One file operation by one actor. `end` frees the nodes that it looked up and that the kernel does not hold. */
export class FileRequest {
  readonly workspace: Workspace;
  #access: Access;
  readonly caller: Caller;
  /** The owner made the request; mode bits, which the sandbox sets, do not apply. `walk` does not change this. */
  readonly isOwner: boolean;
  readonly #nodes: Node[] = [];

  constructor(workspace: Workspace, access: Access) {
    this.workspace = workspace;
    this.#access = access;
    this.isOwner = access.actor === 'owner';
    this.caller = { uid: workspace.spec.uid, gid: workspace.spec.uid, pid: 0 };
  }

  /** The authority by which the rest of the operation decides; `walk` can reduce the owner's to the agent's. */
  get access(): Access {
    return this.#access;
  }

  /** Frees the nodes of this request that the kernel does not hold. The caller must call it. */
  end(): void {
    for (const node of this.#nodes.reverse()) if (node.nlookup === 0) this.workspace.tree.free(node);
  }

  /** Returns the node of a name, or undefined if it does not exist or is hidden. */
  child(dir: Node, name: ByteString): Node | undefined {
    const node = visibleChild(this.workspace, this.#access, dir, name);
    if (node !== undefined) this.#nodes.push(node);
    return node;
  }

  /**
   * Returns a node whose lookup was counted for the kernel, and subtracts that lookup: the kernel did not receive the
   * entry.
   */
  takeEntered(nodeid: number): Node {
    const node = this.workspace.shared.nodes.get(nodeid);
    node.nlookup--;
    this.#nodes.push(node);
    return node;
  }

  /**
   * Throws EACCES unless the mode bits grant `wanted` to the sandbox's user. For requests of programs the kernel makes
   * this check.
   */
  require(node: Node, wanted: number): void {
    if (this.isOwner) return;
    const { mode, uid, gid } = ownershipOf(this.workspace, this.#access, node);
    const bits = uid === this.caller.uid ? mode >> 6 : gid === this.caller.gid ? mode >> 3 : mode;
    if ((bits & wanted) !== wanted) throw EACCES;
  }

  /**
   * Resolves `path` as the kernel does (path_resolution(7)), but never outside the workspace. `follow`: also follow a
   * symlink in the last component. Throws ENOENT for a missing parent directory that `missing` does not create; behind
   * a symlink none is created. Throws ENOTDIR, ELOOP, ENAMETOOLONG, EACCES, and FAILED_PRECONDITION for a path outside
   * the workspace. After following a symlink that the sandbox may write, the sandbox's rules apply to the rest of the
   * operation, also for the owner.
   */
  walk(path: ByteString, follow: boolean, missing?: MakeMissing): ResolvedPath {
    const { tree } = this.workspace;
    const waiting = splitPath(path).reverse();
    let linked = 0;
    let links = 0;
    // undefined: the parent directory of the workspace.
    let at: Node | undefined = tree.root;
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const behindLink = linked > 0;
      if (behindLink) linked--;
      if (name === '' || name === '.') continue;
      if (at === undefined) {
        if (name !== MOUNT_NAME && name !== '..') throw escapesWorkspace(path);
        if (name === MOUNT_NAME) at = tree.root;
        continue;
      }
      requireDirectory(this.workspace, this.#access, at);
      this.require(at, MAY_PASS);
      if (name === '..') {
        at = at.parent;
        continue;
      }
      const node = this.child(at, name);
      const last = waiting.length === 0;
      if (node?.type === S_IFLNK && (follow || !last)) {
        if (++links > MAX_LINKS) throw ELOOP;
        const target = fromBuffer(readlink(this.workspace, this.#access, node));
        // Threat: the sandbox creates a symlink to a path that its rules deny, for the owner to read or write through.
        if (mayChangeName(node.agentLevel as Level)) this.#access = AGENT;
        const names = splitPath(target);
        if (target.startsWith('/')) at = undefined;
        linked += names.length;
        waiting.push(...names.reverse());
        continue;
      }
      if (last) return { dir: at, name, node };
      const next = node ?? (behindLink ? undefined : missing?.(at, name, [...waiting].reverse()));
      if (next === undefined) {
        if (missing === undefined || behindLink) throw ENOENT;
        return { dir: undefined, name, node: undefined };
      }
      at = next;
    }
    if (at === undefined) throw escapesWorkspace(path);
    const link = at.links[0];
    return { dir: link?.parent, name: link?.name ?? NO_BYTES, node: at };
  }

  /** Returns the node at a path. Throws ENOENT, also for a file that another of its links hides, and as `walk`. */
  find(path: ByteString, follow: boolean): Node {
    const { node } = this.walk(path, follow);
    if (node === undefined || !isVisibleNode(this.#access, node)) throw ENOENT;
    return node;
  }
}
