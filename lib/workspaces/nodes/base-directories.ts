import type { ByteString } from '../../byte-string.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';
import type { LayeredNode } from './layered-node.ts';

const NONE: readonly LayeredNode[] = [];

/**
 * The nodes that show each base directory. Usually there is one; a directory that the sandbox renamed, and whose old
 * path it then reverted, is shown at both paths.
 */
export class BaseDirectories {
  #nodes: LargeMap<ByteString, LayeredNode | Set<LayeredNode>> = new Map();

  /** The nodes that show a base path. */
  at(path: ByteString): Iterable<LayeredNode> {
    const known = this.#nodes.get(path);
    if (known === undefined) return NONE;
    return known instanceof Set ? [...known] : [known];
  }

  /** Records that a node shows a base path. */
  add(path: ByteString, node: LayeredNode): void {
    const known = this.#nodes.get(path);
    if (known === undefined) this.#nodes = dividedIfLarge(this.#nodes).set(path, node);
    else if (known instanceof Set) known.add(node);
    else if (known !== node) this.#nodes.set(path, new Set([known, node]));
  }

  /** Removes that record. */
  remove(path: ByteString, node: LayeredNode): void {
    const known = this.#nodes.get(path);
    if (known === node) this.#nodes.delete(path);
    if (!(known instanceof Set) || !known.delete(node) || known.size > 1) return;
    const [last] = known;
    this.#nodes.set(path, last!);
  }

  /** Removes all records. */
  clear(): void {
    this.#nodes = new Map();
  }
}
