import type { ByteString } from '../../../byte-string.ts';
import type { DirectoryEntry } from '../../../trees/format/entry.ts';
import { type Found, findIn } from '../found.ts';
import { type Directory, type Item, OwnDirectory } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import { Place } from '../place.ts';

interface Above {
  readonly target: Target;
  readonly name: ByteString;
  readonly found: Found;
}

/** A directory that is about to change: it becomes own, with those above it, only when all is known to succeed. */
export class Target {
  readonly #tree: LiveTree;
  readonly #above: Above | undefined;
  #directory: Directory;

  private constructor(tree: LiveTree, above: Above | undefined, directory: Directory) {
    this.#tree = tree;
    this.#above = above;
    this.#directory = directory;
  }

  static root(tree: LiveTree): Target {
    return new Target(tree, undefined, tree.root);
  }

  get entry(): DirectoryEntry {
    return this.#directory instanceof OwnDirectory ? this.#directory.entry : this.#directory;
  }

  /** What a name in it has; `found`: in the object. */
  find(name: ByteString): { item: Item | undefined; found: Found } {
    const found = findIn(this.#tree.source, this.entry.key, name);
    const own = this.#directory instanceof OwnDirectory ? this.#directory.patch.get(name) : undefined;
    return { item: own === undefined ? found.entry : (own ?? undefined), found };
  }

  below(name: ByteString, directory: Directory, found: Found): Target {
    return new Target(this.#tree, { target: this, name, found }, directory);
  }

  /** Cannot fail: all was read when it was found. */
  own(): OwnDirectory {
    if (!(this.#directory instanceof OwnDirectory)) {
      const { target, name, found } = this.#above!;
      const parent = target.own();
      const dir = new OwnDirectory(this.#directory, parent, name);
      new Place(this.#tree.counters, parent, name, found).set(dir);
      this.#directory = dir;
    }
    return this.#directory;
  }

  place(name: ByteString, found: Found): Place {
    return new Place(this.#tree.counters, this.own(), name, found);
  }
}
