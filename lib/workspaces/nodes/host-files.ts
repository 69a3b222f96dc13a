import { closeQuietly } from '../../linux/close.ts';
import type { Node } from './node.ts';

/**
 * Open host files of nodes: at most `limit`, and pinned ones. The kernel does not tell of a close, so the least recently
 * used one is closed for a new one.
 *
 * The threat: every base file that a sandbox has looked at is pinned when another sandbox's commit replaces it, and stays
 * pinned until the kernel forgets it. So pinned files are bounded too: `maxPinned`, and as many again for files that are
 * open already.
 */
export class HostFiles {
  readonly #limit: number;
  readonly #maxPinned: number;
  #pinned = 0;
  readonly #byUse = new Set<Node>();

  constructor(limit: number, maxPinned = 1024) {
    this.#limit = limit;
    this.#maxPinned = maxPinned;
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

  /**
   * Keeps the node's host file open, whatever else is opened, until `unpin` or `close`. Opened by `open` when it is not.
   * Does nothing where too many are pinned: reads of such a file fail once its path has another file.
   */
  pin(node: Node, open: () => number): void {
    if (node.pinned) return;
    if (this.#pinned >= (node.fd === -1 ? this.#maxPinned : 2 * this.#maxPinned)) return;
    this.of(node, open);
    node.pinned = true;
    this.#pinned++;
    this.#byUse.delete(node);
  }

  unpin(node: Node): void {
    if (!node.pinned) return;
    this.#release(node);
    if (node.fd !== -1) this.#byUse.add(node);
  }

  close(node: Node): void {
    this.#byUse.delete(node);
    if (node.fd !== -1) closeQuietly(node.fd);
    node.fd = -1;
    this.#release(node);
  }

  #release(node: Node): void {
    if (node.pinned) this.#pinned--;
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
