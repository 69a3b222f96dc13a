/** A value in a text: from `start` to before `end`, which a placeholder replaces with all that is between. */
export interface Span {
  start: number;
  end: number;
  /** Names from the root of the file, joined by dots; '' if it has none. */
  key: string;
  /** As a program that reads the file gets it. */
  value: string;
  /** What replaces the range: characters before and after the placeholder. */
  before: string;
  after: string;
}

/**
 * Finds the values of a file, in the order of the text and without overlap, in steps. undefined: the text is not of this
 * format. Everything outside of the spans is shown, so whatever is not certainly a key, a comment or structure is in one.
 */
export type FindValues = (text: string) => Generator<undefined, readonly Span[] | undefined, void>;

/** Characters of a joined key at most. */
export const MAX_KEY = 256;

/** Joins names from the root of a file. Of a long key only the end is kept: a nested file could name gigabytes. */
export function joinKeys(names: readonly (string | number)[]): string {
  let key = '';
  for (const name of names.toReversed()) {
    if (key.length >= MAX_KEY) break;
    const text = String(name).slice(0, MAX_KEY);
    key = key === '' ? text : `${text}.${key}`;
  }
  return key.slice(-MAX_KEY);
}

/** Booleans and null are no secrets, and programs need them. */
const CONSTANT = /^(true|false|null|yes|no|on|off|~)?$/i;

export function isConstant(value: string): boolean {
  return CONSTANT.test(value);
}
