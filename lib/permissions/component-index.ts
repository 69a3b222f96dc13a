import type { ByteString } from '../byte-string.ts';
import { isAnyName } from './parse-pattern.ts';
import { PatternIndex } from './pattern-index.ts';
import type { Alternative } from './tokens.ts';

const NOTHING: readonly never[] = [];

/** Finds the components that match a name: plain names with one look-up, patterns by their prefix or suffix. */
export class ComponentIndex<T> {
  // Most nodes of a big rule set have one plain child and no pattern, so empty maps are not allocated.
  #names: Map<ByteString, T[]> | undefined;
  #anyName: T[] | undefined;
  #patterns: PatternIndex<T> | undefined;

  add(alternatives: readonly Alternative[], target: T): void {
    for (const alternative of alternatives) {
      if (alternative.literal !== undefined) {
        this.#names ??= new Map();
        const targets = this.#names.get(alternative.literal);
        if (targets === undefined) this.#names.set(alternative.literal, [target]);
        else targets.push(target);
      } else if (isAnyName(alternative)) {
        this.#anyName ??= [];
        this.#anyName.push(target);
      } else {
        this.#patterns ??= new PatternIndex();
        this.#patterns.add(alternative.tokens, target);
      }
    }
  }

  /** Appends the matching targets, except `anyName`, to `found`, possibly with duplicates. */
  find(name: ByteString, found: T[]): void {
    for (const target of this.#names?.get(name) ?? NOTHING) found.push(target);
    this.#patterns?.find(name, found);
  }

  /** The plain names. */
  names(): Iterable<ByteString> {
    return this.#names?.keys() ?? NOTHING;
  }

  /** Targets of `*`. */
  get anyName(): readonly T[] {
    return this.#anyName ?? NOTHING;
  }

  /** Targets of all other patterns. */
  get patterns(): readonly T[] {
    return this.#patterns?.targets ?? NOTHING;
  }

  get patternTokens(): number {
    return this.#patterns?.tokens ?? 0;
  }
}
