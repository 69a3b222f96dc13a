import { randomInt } from 'node:crypto';
import { ESTALE } from '../../linux/errno.ts';
import type { Node } from '../nodes/node.ts';
import type { NodeTree } from '../nodes/node-tree.ts';

/** Open files of API clients. Each handle counts as one lookup of its node. */
export class Handles {
  readonly #nodes = new Map<number, Node>();

  /**
   * Returns a new handle. It is random, so that a handle of an earlier attachment or mount never refers to another
   * file.
   */
  open(node: Node): number {
    let handle = 0;
    while (handle === 0 || this.#nodes.has(handle)) handle = randomInt(2 ** 47);
    this.#nodes.set(handle, node);
    node.nlookup++;
    return handle;
  }

  /** Returns the node of a handle. Throws ESTALE for an unknown one. */
  get(handle: number): Node {
    const node = this.#nodes.get(handle);
    if (node === undefined) throw ESTALE;
    return node;
  }

  /** Closes a handle; does nothing for an unknown one. */
  close(tree: NodeTree, handle: number): void {
    const node = this.#nodes.get(handle);
    if (node === undefined) return;
    this.#nodes.delete(handle);
    tree.forget(node, 1);
  }

  /** Closes all handles. */
  closeAll(tree: NodeTree): void {
    for (const handle of [...this.#nodes.keys()]) this.close(tree, handle);
  }
}
