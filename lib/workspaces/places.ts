import { ServiceError } from '../errors.ts';
import type { Attr, Caller, Entry } from '../fuse/filesystem.ts';
import { EACCES } from '../linux/errno.ts';
import { S_IFDIR } from '../linux/mode.ts';
import type { Node, NodeOwner } from './nodes/node.ts';
import type { NodeTable } from './nodes/node-table.ts';

interface Place<Owner extends NodeOwner> {
  readonly uid: number;
  readonly node: Node<Owner>;
}

const EPOCH = { sec: 0, nsec: 0 };

/**
 * Directories that were made before the workspaces that take them. Of one that is free, only its own user and root get the
 * attributes; every other request for its node is refused, because the node has no workspace.
 */
export class Places<Owner extends NodeOwner> {
  readonly #nodes: NodeTable<Owner>;
  readonly #free = new Map<string, Place<Owner>>();
  readonly #byNode = new Map<number, Place<Owner>>();

  constructor(nodes: NodeTable<Owner>) {
    this.#nodes = nodes;
  }

  reserve(name: string, uid: number): void {
    if (!/^[0-9a-f]{32}(\.home)?$/.test(name))
      throw new ServiceError('INTERNAL', 'a place has a name of random digits');
    if (this.#free.has(name)) throw new ServiceError('ALREADY_EXISTS', `${name} is in use`);
    const place = { uid, node: this.#nodes.reserve() };
    this.#free.set(name, place);
    this.#byNode.set(place.node.id, place);
  }

  /** The directory of a free place of this user. Throws NOT_FOUND. */
  require(name: string, uid: number): Node<Owner> {
    const place = this.#free.get(name);
    if (place === undefined || place.uid !== uid) throw new ServiceError('NOT_FOUND', 'the place is not free');
    return place.node;
  }

  /** Gives a free place to a workspace. Returns its node id, whose attributes the kernel may have cached. */
  give(name: string, workspace: Owner): number {
    const { node } = this.#remove(name)!;
    this.#nodes.give(node, workspace);
    return node.id;
  }

  /** Returns false if there is no such free place. */
  release(name: string): boolean {
    const place = this.#remove(name);
    if (place !== undefined) this.#nodes.delete(place.node);
    return place !== undefined;
  }

  /** LOOKUP of a name in the root. undefined: no free place has it. Throws EACCES for other users. */
  lookup(caller: Caller, name: string): Entry | undefined {
    const place = this.#free.get(name);
    if (place === undefined) return undefined;
    const attr = attrOf(caller, place);
    place.node.nlookup++;
    return { nodeid: place.node.id, attr };
  }

  /** GETATTR. undefined: the node is none of a free place. Throws EACCES for other users. */
  getattr(caller: Caller, nodeid: number): Attr | undefined {
    const place = this.#byNode.get(nodeid);
    return place && attrOf(caller, place);
  }

  #remove(name: string): Place<Owner> | undefined {
    const place = this.#free.get(name);
    this.#free.delete(name);
    if (place !== undefined) this.#byNode.delete(place.node.id);
    return place;
  }
}

function attrOf(caller: Caller, { uid, node }: Place<NodeOwner>): Attr {
  if (caller.uid !== 0 && caller.uid !== uid) throw EACCES;
  const times = { atime: EPOCH, mtime: EPOCH, ctime: EPOCH };
  return { ino: node.id, size: 4096, blocks: 8, ...times, mode: S_IFDIR | 0o700, nlink: 2, uid, gid: uid, rdev: 0 };
}
