import type { ByteString } from '../../../byte-string.ts';
import { nameAtRank, rankOf } from '../../../trees/directory/ranks.ts';
import type { Source } from '../../../trees/directory/source.ts';
import type { Key } from '../../../trees/format/keys.ts';
import { type Directory, OwnDirectory } from '../items.ts';

const NO_NAMES: readonly ByteString[] = [];

/**
 * The names of a directory at some time, in order: those of its object and of its patch, also the removed ones. Each has an
 * index, so that a reader can say where it is.
 */
export class Generation {
  readonly #source: Source;
  readonly #key: Key;
  readonly #patched: readonly ByteString[];
  /** Of each patched name: its index, and how many before it only the patch has. Made when it is needed. */
  #places: { readonly index: number; readonly added: number }[] | undefined;

  constructor(source: Source, directory: Directory) {
    this.#source = source;
    [this.#key, this.#patched] = namesOf(directory);
  }

  is(directory: Directory): boolean {
    const [key, patched] = namesOf(directory);
    return key === this.#key && patched === this.#patched;
  }

  /** undefined: there are fewer names. */
  nameAt(index: number): ByteString | undefined {
    const at = this.#firstFrom(({ index: other }) => other >= index);
    const place = this.#placed[at];
    if (place?.index === index) return this.#patched[at];
    return nameAtRank(this.#source, this.#key, index - this.#addedBefore(at));
  }

  /** Of the name, or of the first larger one. */
  indexOf(name: ByteString): number {
    const at = this.#firstFrom((_, index) => this.#patched[index]! >= name);
    return rankOf(this.#source, this.#key, name).rank + this.#addedBefore(at);
  }

  get #placed(): readonly { readonly index: number; readonly added: number }[] {
    if (this.#places === undefined) {
      let added = 0;
      this.#places = this.#patched.map((name) => {
        const { rank, has } = rankOf(this.#source, this.#key, name);
        const place = { index: rank + added, added };
        if (!has) added++;
        return place;
      });
    }
    return this.#places;
  }

  #addedBefore(at: number): number {
    const next = this.#placed[at];
    if (next !== undefined) return next.added;
    const last = this.#placed.at(-1);
    if (last === undefined) return 0;
    return last.added + (rankOf(this.#source, this.#key, this.#patched.at(-1)!).has ? 0 : 1);
  }

  /** The places are in ascending order. */
  #firstFrom(isFrom: (place: { readonly index: number; readonly added: number }, at: number) => boolean): number {
    const placed = this.#placed;
    let [low, high] = [0, placed.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isFrom(placed[middle]!, middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

function namesOf(directory: Directory): [key: Key, patched: readonly ByteString[]] {
  if (!(directory instanceof OwnDirectory)) return [directory.key, NO_NAMES];
  return [directory.entry.key, directory.patch.size === 0 ? NO_NAMES : directory.sorted];
}
