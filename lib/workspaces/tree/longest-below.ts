import { type Item, isDirectoryItem, OwnDirectory, ownBelow } from './items.ts';

/**
 * Bytes of the longest path in an item; at least that many, where names were removed since the tree was frozen. Whether a
 * directory may move to a longer path is asked of this, without a look at what is clean.
 */
export function longestBelow(item: Item): number {
  if (!isDirectoryItem(item)) return 0;
  if (!(item instanceof OwnDirectory)) return item.totals.longest;
  const longest = new Map<OwnDirectory, number>();
  for (const dir of ownBelow(item).reverse()) {
    let most = dir.entry.totals.longest;
    for (const [name, below] of dir.patch) {
      if (below === null) continue;
      const rest = below instanceof OwnDirectory ? longest.get(below)! : longestBelow(below);
      most = Math.max(most, rest === 0 ? name.length : name.length + 1 + rest);
    }
    longest.set(dir, most);
  }
  return longest.get(item)!;
}
