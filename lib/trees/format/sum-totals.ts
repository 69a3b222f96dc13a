import type { DirectoryObject } from './directory-object.ts';
import { noTotals, type Totals } from './totals.ts';

/**
 * The totals of the records. Each record of a directory has those of its subtree, so that this reads one object only and is
 * exact: nothing is added to or subtracted from totals of before.
 */
export function sumTotals(object: DirectoryObject): Totals {
  const totals = noTotals();
  for (let index = 0; index < object.count; index++) object.layout.addTo(totals, object.bytes, object.start(index));
  return totals;
}
