import { Comparison } from '../../../../lib/trees/algebra/comparison.ts';
import { type Entry, isDirectory } from '../../../../lib/trees/format/entry.ts';
import { entryAt, withEntry } from '../edit.ts';
import { Memory } from '../memory.ts';
import { flatten, isDirectoryAt, parentsOf } from '../model/flat.ts';
import { directoryEntry, fileEntry } from '../random.ts';

/** Trees in memory, written as maps from paths to contents; a path with a slash at its end is a directory. */
export class SmallTrees {
  readonly memory = new Memory();
  readonly comparison = new Comparison(this.memory, () => undefined);
  #ino = 10;
  readonly numbers = { next: () => this.#ino++, isOwn: () => true };

  tree(contents: Record<string, string | Entry>): Entry {
    return this.change(directoryEntry('', { ino: 1 }), contents);
  }

  /** With some paths changed; undefined: removed. */
  change(tree: Entry, contents: Record<string, string | Entry | undefined>): Entry {
    let now = tree;
    for (const [path, what] of Object.entries(contents)) {
      const directory = path.endsWith('/');
      const at = directory ? path.slice(0, -1) : path;
      for (const parent of parentsOf(at).reverse())
        if (!isDirectory(entryAt(this.memory, now, parent))) now = this.#put(now, parent, this.#directory());
      const entry = typeof what === 'string' ? (directory ? this.#directory() : this.file(what)) : what;
      now = this.#put(now, at, entry);
    }
    return now;
  }

  /** The tree in as many directories, one in the other. */
  below(depth: number, tree: Entry): Entry {
    let now = tree;
    for (let level = 0; level < depth; level++) now = this.#put(this.#directory(), 'd', now);
    return now;
  }

  file(contents: string, attributes: Partial<Entry> = {}): Entry {
    return fileEntry('', contents, { ino: this.#ino++, ...attributes });
  }

  at(tree: Entry | undefined, path: string): Entry | undefined {
    return entryAt(this.memory, tree, path);
  }

  /** All paths but the root's, those of directories with a slash at the end. */
  paths(tree: Entry | undefined): string[] {
    const flat = flatten(this.memory, tree, (key) => key);
    return [...flat.keys()].slice(1).map((path) => (isDirectoryAt(flat, path) ? `${path}/` : path));
  }

  #directory(): Entry {
    return directoryEntry('', { ino: this.#ino++ });
  }

  #put(tree: Entry, path: string, entry: Entry | undefined): Entry {
    return withEntry(this.memory, this.memory.hashed, tree, path, entry);
  }
}
