import { type ByteString, fromText, sliceOf } from '../byte-string.ts';
import { ComponentMatcher, type Units, unitsOf } from './match-component.ts';
import type { Token } from './tokens.ts';

interface Candidate<T> {
  matcher: ComponentMatcher;
  target: T;
}

type ByText<T> = Map<ByteString, Candidate<T>[]>;

/**
 * Finds the patterns that match a name without trying each: patterns with a plain prefix or suffix are in maps by that
 * text, and only the others (`*x*`, `[ab]*`) are tried in turn.
 */
export class PatternIndex<T> {
  readonly targets: T[] = [];
  /** Total of all patterns. */
  tokens = 0;
  readonly #suffixes = new Map<number, ByText<T>>();
  readonly #prefixes = new Map<number, ByText<T>>();
  readonly #others: Candidate<T>[] = [];

  add(tokens: readonly Token[], target: T): void {
    this.targets.push(target);
    this.tokens += tokens.length;
    const candidate = { matcher: new ComponentMatcher(tokens), target };
    const prefix = plainRun(tokens);
    const suffix = plainRun(tokens.toReversed(), true);
    if (prefix === '' && suffix === '') this.#others.push(candidate);
    else if (suffix.length >= prefix.length) insert(this.#suffixes, suffix, candidate);
    else insert(this.#prefixes, prefix, candidate);
  }

  /** Appends the matching targets to `found`, possibly with duplicates. */
  find(name: ByteString, found: T[]): void {
    // Decoded at the first candidate, because most names have none.
    let units: Units | undefined;
    const tryAll = (candidates: readonly Candidate<T>[] | undefined): void => {
      if (candidates === undefined) return;
      for (const { matcher, target } of candidates) {
        units ??= unitsOf(name);
        if (matcher.matches(units)) found.push(target);
      }
    };
    for (const [length, byText] of this.#suffixes) {
      if (length <= name.length) tryAll(byText.get(sliceOf(name, -length)));
    }
    for (const [length, byText] of this.#prefixes) {
      if (length <= name.length) tryAll(byText.get(sliceOf(name, 0, length)));
    }
    tryAll(this.#others);
  }
}

/** The plain prefix of all matches (or, with reversed tokens and result, the suffix). */
function plainRun(tokens: readonly Token[], reversed = false): ByteString {
  const end = tokens.findIndex((token) => typeof token !== 'number' || token < 0);
  const characters = tokens.slice(0, end).map((token) => String.fromCodePoint(token as number));
  return fromText((reversed ? characters.reverse() : characters).join(''));
}

function insert<T>(byLength: Map<number, ByText<T>>, text: ByteString, candidate: Candidate<T>): void {
  const byText: ByText<T> = byLength.get(text.length) ?? new Map();
  byLength.set(text.length, byText);
  const candidates = byText.get(text);
  if (candidates === undefined) byText.set(text, [candidate]);
  else candidates.push(candidate);
}
