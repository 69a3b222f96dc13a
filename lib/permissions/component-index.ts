import type { ByteString } from '../fuse/filesystem.ts';
import { ComponentMatcher, type Units, unitsOf } from './match-component.ts';
import { isAnyName } from './parse-pattern.ts';
import { bytesOf } from './pattern-limits.ts';
import type { Alternative, Token } from './tokens.ts';

interface Candidate<T> {
  matcher: ComponentMatcher;
  target: T;
}

/**
 * Which of many component patterns match a name, without trying each: plain names are in a map, patterns with a plain
 * end or start in maps by that end or start, and only what has neither (`*x*`, `[ab]*`) is tried in turn.
 */
export class ComponentIndex<T> {
  /** Of `*`. */
  readonly anyName: T[] = [];
  /** Of all other patterns, whether tried through a map or in turn. */
  readonly patterns: T[] = [];
  readonly #names = new Map<ByteString, T[]>();
  readonly #suffixes = new Map<number, Map<ByteString, Candidate<T>[]>>();
  readonly #prefixes = new Map<number, Map<ByteString, Candidate<T>[]>>();
  readonly #others: Candidate<T>[] = [];

  add(alternatives: readonly Alternative[], target: T): void {
    for (const alternative of alternatives) {
      if (alternative.literal !== undefined) append(this.#names, alternative.literal, target);
      else if (isAnyName(alternative)) this.anyName.push(target);
      else this.#addPattern(alternative.tokens, target);
    }
  }

  #addPattern(tokens: readonly Token[], target: T): void {
    this.patterns.push(target);
    const candidate = { matcher: new ComponentMatcher(tokens), target };
    const prefix = plainRun(tokens);
    const suffix = plainRun(tokens.toReversed(), true);
    if (prefix === '' && suffix === '') this.#others.push(candidate);
    else if (suffix.length >= prefix.length) append(ofLength(this.#suffixes, suffix.length), suffix, candidate);
    else append(ofLength(this.#prefixes, prefix.length), prefix, candidate);
  }

  names(): IterableIterator<ByteString> {
    return this.#names.keys();
  }

  /** Appends the targets that match, but for `anyName`, to `found`; one may come twice. */
  find(name: ByteString, found: T[]): void {
    for (const target of this.#names.get(name) ?? []) found.push(target);
    // Decoding waits for the first candidate: most names have none.
    let units: Units | undefined;
    const tryAll = (candidates: readonly Candidate<T>[] | undefined): void => {
      if (candidates === undefined) return;
      for (const { matcher, target } of candidates) {
        units ??= unitsOf(name);
        if (matcher.matches(units)) found.push(target);
      }
    };
    for (const [length, bySuffix] of this.#suffixes) {
      if (length <= name.length) tryAll(bySuffix.get(name.slice(-length)));
    }
    for (const [length, byPrefix] of this.#prefixes) {
      if (length <= name.length) tryAll(byPrefix.get(name.slice(0, length)));
    }
    tryAll(this.#others);
  }
}

/** The bytes every match starts with (or, tokens and result turned round, ends with). */
function plainRun(tokens: readonly Token[], reversed = false): ByteString {
  const end = tokens.findIndex((token) => typeof token !== 'number' || token < 0);
  const characters = tokens.slice(0, end).map((token) => String.fromCodePoint(token as number));
  return bytesOf((reversed ? characters.reverse() : characters).join(''));
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

function ofLength<V>(byLength: Map<number, Map<ByteString, V>>, length: number): Map<ByteString, V> {
  const known = byLength.get(length);
  if (known !== undefined) return known;
  const map = new Map<ByteString, V>();
  byLength.set(length, map);
  return map;
}
