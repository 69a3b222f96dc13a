import type { ByteString } from '../../byte-string.ts';
import type { Node } from './node.ts';

const NONE: readonly Node[] = [];

/**
 * The nodes that show each directory of the base. There is mostly one; a directory that the sandbox renamed, and then gave
 * its old place back to the base, is shown at both places.
 */
export class BaseDirectories {
  readonly #nodes = new Map<ByteString, Node | Set<Node>>();

  at(path: ByteString): Iterable<Node> {
    const known = this.#nodes.get(path);
    if (known === undefined) return NONE;
    return known instanceof Set ? [...known] : [known];
  }

  add(path: ByteString, node: Node): void {
    const known = this.#nodes.get(path);
    if (known === undefined) this.#nodes.set(path, node);
    else if (known instanceof Set) known.add(node);
    else if (known !== node) this.#nodes.set(path, new Set([known, node]));
  }

  remove(path: ByteString, node: Node): void {
    const known = this.#nodes.get(path);
    if (known === node) this.#nodes.delete(path);
    if (!(known instanceof Set) || !known.delete(node) || known.size > 1) return;
    const [last] = known;
    this.#nodes.set(path, last!);
  }

  clear(): void {
    this.#nodes.clear();
  }
}
