import { ESTALE } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { Node, type NodeOwner } from './node.ts';

/** The kernel's number for the root of a mount. */
export const ROOT_NODEID = 1;

/** Every node of the mount by its number. */
export class NodeTable<Owner extends NodeOwner = NodeOwner> {
  readonly #nodes = new Map<number, Node<Owner>>();
  #next = ROOT_NODEID + 1;
  readonly root: Node<Owner> = new Node<Owner>(ROOT_NODEID, undefined, S_IFDIR);

  constructor() {
    this.#nodes.set(ROOT_NODEID, this.root);
  }

  get size(): number {
    return this.#nodes.size;
  }

  add(workspace: Owner, type: number): Node<Owner> {
    const node = new Node(this.#next++, workspace, type);
    this.#nodes.set(node.id, node);
    workspace.knownNodes++;
    return node;
  }

  find(id: number): Node<Owner> | undefined {
    return this.#nodes.get(id);
  }

  /** Throws ESTALE for what is not there (any more). */
  get(id: number): Node<Owner> {
    const node = this.#nodes.get(id);
    if (node === undefined || node.workspace?.isClosed) throw ESTALE;
    return node;
  }

  delete(node: Node): void {
    if (!this.#nodes.delete(node.id) || node.workspace === undefined) return;
    node.workspace.knownNodes--;
    node.listing = undefined;
  }
}
