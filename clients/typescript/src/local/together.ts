import type { FileChange } from '../contract/messages.ts';
import { above } from './plan.ts';
import { isWithin } from './refusal.ts';
import type { Renames } from './renames.ts';

/**
 * Which of the chosen changes come only together. A new name comes only if the old one goes, and the old one goes, or gets other
 * contents, only if a new one comes. What is in a directory comes only if that does. A directory goes, or is replaced, only if
 * what is in it goes. A renamed directory comes only with all that was renamed with it.
 */
export class Together {
  readonly #chosen: ReadonlyMap<string, FileChange>;
  readonly #renames: Renames;
  /** By path, the directory above it that goes with it. */
  readonly #from = new Map<string, string>();
  /** By path, what is above it and must come, because it comes there, or goes with what is replaced. */
  readonly #into = new Map<string, string>();
  /** The other way round. */
  readonly #below = new Map<string, string[]>();

  /** `chosen`: what is in a directory is after it. */
  constructor(chosen: ReadonlyMap<string, FileChange>, renames: Renames) {
    this.#chosen = chosen;
    this.#renames = renames;
    for (const path of chosen.keys()) this.#place(path);
  }

  #place(path: string): void {
    let at = path.lastIndexOf('/');
    while (at > 0 && !this.#chosen.has(path.slice(0, at))) at = path.lastIndexOf('/', at - 1);
    const above = at > 0 ? this.#chosen.get(path.slice(0, at)) : undefined;
    if (above === undefined) return;
    if (above.kind === 'deleted' || above.type !== 'directory') this.#from.set(path, above.path);
    const into = above.kind === 'deleted' ? this.#into.get(above.path) : above.path;
    if (into === undefined) return;
    this.#into.set(path, into);
    const others = this.#below.get(into);
    if (others) others.push(path);
    else this.#below.set(into, [path]);
  }

  /** What does not come, with all that then does not, either. `isHere`: what is here already needs nothing. */
  without(left: Iterable<string>, isHere: (path: string) => boolean): ReadonlySet<string> {
    const all = new Set(left);
    const coming = new Map<string, number>();
    // A set hands out what is added meanwhile.
    for (const path of all) {
      for (const each of this.#needing(path, coming)) if (this.#chosen.has(each) && !isHere(each)) all.add(each);
    }
    return all;
  }

  /** `coming`: how many of its new names come, by old name. */
  *#needing(path: string, coming: Map<string, number>): Generator<string, void, void> {
    yield* this.#renames.followersOf(path);
    const old = this.#renames.oldNameOf(path);
    if (old !== undefined) {
      const names = coming.get(old) ?? this.#renames.newNamesOf(old).filter((each) => this.#chosen.has(each)).length;
      coming.set(old, names - 1);
      if (names === 1) yield old;
    }
    yield* this.#movedWith(path);
    yield* this.#below.get(path) ?? [];
    const from = this.#from.get(path);
    if (from !== undefined) yield from;
  }

  /** The renamed directories that it was renamed with: they come whole. */
  #movedWith(path: string): string[] {
    const old = this.#chosen.get(path)?.renamedFrom ?? '';
    const isMoved = (from: string) => from !== '' && isWithin(old, from);
    return above(path).filter((each) => isMoved(this.#chosen.get(each)?.renamedFrom ?? ''));
  }
}
