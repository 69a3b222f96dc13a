import { ESTALE } from '../../linux/errno.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import { FormCache } from '../redacted/form-cache.ts';
import type { Node, NodeOwner } from './node.ts';

/** FUSE_ROOT_ID. */
export const ROOT_NODEID = 1;

/** All nodes of the mount, by node id. Node ids are never reused. */
export class NodeTable<Owner extends NodeOwner = NodeOwner> {
  #nodes: LargeMap<number, Node<Owner>> = new Map();
  /** What agents see of redacted files. */
  readonly forms = new FormCache();
  #next = ROOT_NODEID + 1;
  readonly root: Node<Owner>;
  readonly #directory: (id: number) => Node<Owner>;

  /** `directory`: makes a directory of no workspace. */
  constructor(directory: (id: number) => Node<Owner>) {
    this.#directory = directory;
    this.root = directory(ROOT_NODEID);
    this.#nodes.set(ROOT_NODEID, this.root);
  }

  /** Number of nodes. */
  get size(): number {
    return this.#nodes.size;
  }

  /** For a node that is made, and added. */
  newId(): number {
    return this.#next++;
  }

  /** Adds a node of a workspace. */
  add(node: Node<Owner>): void {
    this.#nodes = dividedIfLarge(this.#nodes).set(node.id, node);
    node.workspace!.knownNodes++;
  }

  /** Allocates a directory of no workspace: nothing but its attributes is served. */
  reserve(): Node<Owner> {
    const node = this.#directory(this.newId());
    this.#nodes = dividedIfLarge(this.#nodes).set(node.id, node);
    return node;
  }

  /** Makes a reserved directory one of a workspace, for ever. */
  give(node: Node<Owner>, workspace: Owner): void {
    node.workspace = workspace;
    workspace.knownNodes++;
  }

  /** Returns a node, or undefined for an unknown id. */
  find(id: number): Node<Owner> | undefined {
    return this.#nodes.get(id);
  }

  /** Returns a node. Throws ESTALE for an unknown id or a closed workspace. */
  get(id: number): Node<Owner> {
    const node = this.#nodes.get(id);
    if (node === undefined || node.workspace?.isClosed) throw ESTALE;
    return node;
  }

  /** Frees a node id. */
  delete(node: Node): void {
    if (!this.#nodes.delete(node.id) || node.workspace === undefined) return;
    node.workspace.knownNodes--;
    this.forms.delete(node);
    node.freed();
  }
}
