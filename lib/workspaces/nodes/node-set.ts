import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import type { Node } from './node.ts';

/** A set of nodes of any size. A Set of a million is copied in one step when it grows. */
export class NodeSet<N extends Node = Node> {
  #nodes: LargeMap<number, N> = new Map();

  get size(): number {
    return this.#nodes.size;
  }

  add(node: N): void {
    this.#nodes = dividedIfLarge(this.#nodes).set(node.id, node);
  }

  has(node: N): boolean {
    return this.#nodes.has(node.id);
  }

  delete(node: N): boolean {
    return this.#nodes.delete(node.id);
  }

  /** All nodes, in no particular order. */
  [Symbol.iterator](): Iterator<N> {
    return this.#nodes.values();
  }
}
