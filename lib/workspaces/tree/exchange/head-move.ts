import { type Difference, differences } from '../../../trees/directory/differences.ts';
import type { Source } from '../../../trees/directory/source.ts';
import type { DirectoryEntry } from '../../../trees/format/entry.ts';
import type { Key } from '../../../trees/format/keys.ts';
import { MAX_TAKEN } from '../limits.ts';

/**
 * A move of a codebase from one tree to another. What differs in a directory is found once for all workspaces: they meet the
 * same pairs of objects.
 */
export class HeadMove {
  readonly from: DirectoryEntry;
  readonly to: DirectoryEntry;
  readonly most: number;
  readonly #source: Source;
  readonly #known = new Map<string, readonly Difference[]>();

  /** `most`: entries that it may change in a tree. */
  constructor(source: Source, from: DirectoryEntry, to: DirectoryEntry, most = MAX_TAKEN) {
    this.#source = source;
    this.from = from;
    this.to = to;
    this.most = most;
  }

  /** Names that differ; only the first ones if they are too many. */
  changed(from: Key, to: Key): readonly Difference[] {
    const pair = from + to;
    let changed = this.#known.get(pair);
    if (changed === undefined) {
      changed = this.#find(from, to);
      this.#known.set(pair, changed);
    }
    return changed;
  }

  #find(from: Key, to: Key): Difference[] {
    const found: Difference[] = [];
    for (const difference of differences(this.#source, from, to)) {
      found.push(difference);
      if (found.length > this.most) break;
    }
    return found;
  }
}
