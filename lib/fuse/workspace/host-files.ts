import { closeQuietly } from './delta/data-files.ts';
import type { Node } from './node.ts';

/** Open host files of nodes, at most `limit` besides pinned ones. The kernel tells of no close, so the oldest goes. */
export class HostFiles {
  readonly #limit: number;
  readonly #byUse = new Set<Node>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The node's host file, opened by `open` when it is not. */
  of(node: Node, open: () => number): number {
    if (node.fd === -1) {
      node.fd = open();
      this.#byUse.add(node);
      if (this.#byUse.size > this.#limit) this.#evict(node);
    } else if (!node.pinned) {
      this.#byUse.delete(node);
      this.#byUse.add(node);
    }
    return node.fd;
  }

  /** Keeps the open file whatever else is opened, until `unpin` or `close`. */
  pin(node: Node): void {
    node.pinned = true;
    this.#byUse.delete(node);
  }

  unpin(node: Node): void {
    node.pinned = false;
    if (node.fd !== -1) this.#byUse.add(node);
  }

  close(node: Node): void {
    this.#byUse.delete(node);
    if (node.fd !== -1) closeQuietly(node.fd);
    node.fd = -1;
    node.pinned = false;
  }

  #evict(but: Node): void {
    for (const node of this.#byUse) {
      if (node === but) continue;
      this.close(node);
      return;
    }
  }
}
