import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import type { Node } from './node.ts';

/** A set of nodes of any size. A Set of a million is copied in one step when it grows. */
export class NodeSet {
  #nodes: LargeMap<number, Node> = new Map();

  get size(): number {
    return this.#nodes.size;
  }

  add(node: Node): void {
    this.#nodes = dividedIfLarge(this.#nodes).set(node.id, node);
  }

  has(node: Node): boolean {
    return this.#nodes.has(node.id);
  }

  delete(node: Node): boolean {
    return this.#nodes.delete(node.id);
  }

  /** All nodes, in no particular order. */
  [Symbol.iterator](): Iterator<Node> {
    return this.#nodes.values();
  }
}
