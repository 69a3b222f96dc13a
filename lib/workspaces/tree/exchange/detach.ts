import { EMPTY_DIRECTORY } from '../../../trees/format/entry.ts';
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
  // Nothing is patched in it but with what the object has, too; or it has nothing, whatever the object has.
  counters.remove(item.size === 0 ? { ...item.entry, totals: EMPTY_DIRECTORY.totals } : item.entry);
  for (const dir of ownBelow(item)) {
    // An empty one that came from elsewhere: the object above has it as one without an object.
    if (dir !== item && dir.size === 0) {
      counters.remove({ ...dir.entry, ...EMPTY_DIRECTORY, key: dir.entry.key });
      counters.add({ ...dir.entry, ...EMPTY_DIRECTORY });
    }
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
