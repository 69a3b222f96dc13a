import type { ByteString } from '../../byte-string.ts';
import type { Caller } from '../../fuse/filesystem.ts';
import { EACCES, ENOENT } from '../../linux/errno.ts';
import { S_IFLNK } from '../../linux/mode.ts';
import { WRITE } from '../../permissions/index.ts';
import { type Access, AGENT } from '../access/access.ts';
import { ownershipOf } from '../access/attr.ts';
import type { Node } from '../nodes/node.ts';
import { readlink } from '../operations/contents.ts';
import { requireDirectory, visibleChild } from '../operations/entries.ts';
import type { Workspace } from '../workspace.ts';
import { ELOOP, leadsOut } from './refusal.ts';

/** As the kernel's MAXSYMLINKS. */
const MAX_LINKS = 40;
/** Where sandboxes have their workspace. */
const MOUNT_NAME = 'workspace';

/** Mode bits, as access(2) has them. */
export const MAY_READ = 4;
export const MAY_WRITE = 2;
export const MAY_PASS = 1;

/** Where a path leads. Of the root there is only the node. */
export interface Spot {
  dir: Node | undefined;
  name: ByteString;
  node: Node | undefined;
}

/** Gives the directory that takes the place of a missing one; undefined ends the walk there. */
type Missing = (dir: Node, name: ByteString, rest: readonly ByteString[]) => Node | undefined;

/** One operation by one actor. The nodes it came by that the kernel does not know are freed at its end. */
export class Visit {
  readonly workspace: Workspace;
  #access: Access;
  readonly caller: Caller;
  /** The owner asked, and is not held by mode bits, which are the sandbox's own. Not changed by `walk`. */
  readonly isOwner: boolean;
  readonly #seen: Node[] = [];

  constructor(workspace: Workspace, access: Access) {
    this.workspace = workspace;
    this.#access = access;
    this.isOwner = access.actor === 'owner';
    this.caller = { uid: workspace.spec.uid, gid: workspace.spec.uid, pid: 0 };
  }

  /** By whose authority the rest of the operation decides: `walk` may turn the owner's into the agent's. */
  get access(): Access {
    return this.#access;
  }

  end(): void {
    for (const node of this.#seen.reverse()) if (node.nlookup === 0) this.workspace.tree.free(node);
  }

  child(dir: Node, name: ByteString): Node | undefined {
    const node = visibleChild(this.workspace, this.#access, dir, name);
    if (node !== undefined) this.#seen.push(node);
    return node;
  }

  /** For a node that was entered for the kernel, which was not told. */
  entered(nodeid: number): Node {
    const node = this.workspace.shared.nodes.get(nodeid);
    node.nlookup--;
    this.#seen.push(node);
    return node;
  }

  /** Throws EACCES where the mode bits do not let the sandbox's user, as the kernel does before it asks. */
  require(node: Node, wanted: number): void {
    if (this.isOwner) return;
    const { mode, uid, gid } = ownershipOf(this.workspace, this.#access, node);
    const bits = uid === this.caller.uid ? mode >> 6 : gid === this.caller.gid ? mode >> 3 : mode;
    if ((bits & wanted) !== wanted) throw EACCES;
  }

  /**
   * Follows `path` by names, as the kernel would, and never out of the workspace: a symlink leads on from where it is
   * seen in the sandbox. `follow`: also the last name. Throws ENOENT for a missing directory on the way that `missing`
   * does not make up for; one behind a symlink is never made up for. Through a symlink that the sandbox may write, its
   * owner gets no further than the sandbox: from there on, to the end of the operation, its rules hold.
   */
  walk(path: ByteString, follow: boolean, missing?: Missing): Spot {
    const { tree } = this.workspace;
    const waiting = path === '' ? [] : path.split('/').reverse();
    let linked = 0;
    let links = 0;
    // undefined: above the workspace.
    let at: Node | undefined = tree.root;
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const behindLink = linked > 0;
      if (behindLink) linked--;
      if (name === '' || name === '.') continue;
      if (at === undefined) {
        if (name !== MOUNT_NAME && name !== '..') throw leadsOut(path);
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
        const target = readlink(this.workspace, this.#access, node).toString('latin1');
        // The threat: a link that the sandbox made, to what its rules keep from it, for its owner to read or write through.
        if (node.agentLevel === WRITE) this.#access = AGENT;
        const names = target.split('/');
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
    if (at === undefined) throw leadsOut(path);
    const link = at.links[0];
    return { dir: link?.parent, name: link?.name ?? '', node: at };
  }

  /** What is there; throws ENOENT. */
  find(path: ByteString, follow: boolean): Node {
    const { node } = this.walk(path, follow);
    if (node === undefined) throw ENOENT;
    return node;
  }
}
