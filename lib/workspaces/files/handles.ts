import { randomInt } from 'node:crypto';
import { ESTALE } from '../../linux/errno.ts';
import type { Node } from '../nodes/node.ts';
import type { NodeTree } from '../nodes/node-tree.ts';

/** Nodes that callers hold open, each as if the kernel knew it once more. */
export class Handles {
  readonly #nodes = new Map<number, Node>();

  /** The number is random: one of an earlier attachment, or of a mount that died, never opens another file. */
  open(node: Node): number {
    let handle = 0;
    while (handle === 0 || this.#nodes.has(handle)) handle = randomInt(2 ** 47);
    this.#nodes.set(handle, node);
    node.nlookup++;
    return handle;
  }

  /** Throws ESTALE. */
  get(handle: number): Node {
    const node = this.#nodes.get(handle);
    if (node === undefined) throw ESTALE;
    return node;
  }

  /** Unknown ones are fine. */
  close(tree: NodeTree, handle: number): void {
    const node = this.#nodes.get(handle);
    if (node === undefined) return;
    this.#nodes.delete(handle);
    tree.forget(node, 1);
  }

  closeAll(tree: NodeTree): void {
    for (const handle of [...this.#nodes.keys()]) this.close(tree, handle);
  }
}
