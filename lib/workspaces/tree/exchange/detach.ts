import { type Item, OwnDirectory, OwnFile, ownBelow } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';

/**
 * An item that equals what was below it goes, with all that is in it. Who has its files open keeps them, without a name and
 * without a number in the journal.
 */
export function detach({ counters, numbering }: LiveTree, item: Item): void {
  if (!(item instanceof OwnDirectory)) {
    counters.remove(item instanceof OwnFile ? item.entry : item);
    if (item instanceof OwnFile) unlink(item);
    return;
  }
  // Nothing is patched in it but with what the object has, too.
  counters.remove(item.entry);
  for (const dir of ownBelow(item)) {
    dir.parent = null;
    numbering.take(dir);
    for (const [, below] of dir.patch) if (below instanceof OwnFile) unlink(below);
  }

  function unlink(file: OwnFile): void {
    file.names = [];
    file.entry = { ...file.entry, nlink: 0 };
    numbering.take(file);
  }
}
