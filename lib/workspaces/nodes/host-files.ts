import { closeQuietly } from '../../linux/close.ts';
import type { LayeredNode } from './layered-node.ts';

/**
 * Open host files of nodes: at most `limit`, plus pinned ones. With OPEN answered by ENOSYS the kernel sends no
 * RELEASE, so the least recently used file is closed for a new one.
 *
 * Threat: every base file that a sandbox has looked up is pinned when another sandbox's commit replaces it, until the
 * kernel forgets the node. Pinned files are therefore limited, too: `maxPinned`, and as many again for files that are
 * open already.
 */
export class HostFiles {
  readonly #limit: number;
  readonly #maxPinned: number;
  #pinned = 0;
  readonly #byUse = new Set<LayeredNode>();

  constructor(limit: number, maxPinned = 4 * limit) {
    this.#limit = limit;
    this.#maxPinned = maxPinned;
  }

  /** Returns the descriptor of the node's host file; `open` opens it if necessary. It stays owned by this class. */
  of(node: LayeredNode, open: () => number): number {
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
   * Keeps the node's host file open until `unpin` or `close`; `open` opens it if necessary. Does nothing beyond the
   * limit: reads of such a file fail once its path has another file.
   */
  pin(node: LayeredNode, open: () => number): void {
    if (node.pinned) return;
    if (this.#pinned >= (node.fd === -1 ? this.#maxPinned : 2 * this.#maxPinned)) return;
    this.of(node, open);
    node.pinned = true;
    this.#pinned++;
    this.#byUse.delete(node);
  }

  /** Makes a pinned file subject to eviction again. */
  unpin(node: LayeredNode): void {
    if (!node.pinned) return;
    this.#release(node);
    if (node.fd !== -1) this.#byUse.add(node);
  }

  /** Closes the node's host file, pinned or not. */
  close(node: LayeredNode): void {
    this.#byUse.delete(node);
    if (node.fd !== -1) closeQuietly(node.fd);
    node.fd = -1;
    this.#release(node);
  }

  #release(node: LayeredNode): void {
    if (node.pinned) this.#pinned--;
    node.pinned = false;
  }

  #evict(but: LayeredNode): void {
    for (const node of this.#byUse) {
      if (node === but) continue;
      this.close(node);
      return;
    }
  }
}
