/** A value in a text: from `start` to before `end`, which a placeholder replaces with all that is between. */
export interface Span {
  start: number;
  end: number;
  /** Names from the root of the file, joined by dots; '' if it has none. */
  key: string;
  /** As `key`, of no other place: names with dots and digits are told from levels and lists, an index in a list does not count. */
  place: string;
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
const MAX_KEY = 256;

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

/** Characters of a place at most; one of so many may be that of another value, too. */
export const MAX_PLACE = 1024;
const ELEMENT = '*';

/** See `Span.place`. */
export function placeOf(names: readonly (string | number)[]): string {
  let place = '';
  for (const name of names.toReversed()) {
    if (place.length >= MAX_PLACE) break;
    place = `${typeof name === 'number' ? ELEMENT : JSON.stringify(name.slice(0, MAX_PLACE))}.${place}`;
  }
  return place.slice(-MAX_PLACE);
}

/** Whether a list is on the way to a place; also of some that have names with an asterisk. */
export function isInList(place: string): boolean {
  return place.includes(`${ELEMENT}.`);
}

/** Booleans and null are no secrets, and programs need them. */
const CONSTANT = /^(true|false|null|yes|no|on|off|~)?$/i;

export function isConstant(value: string): boolean {
  return CONSTANT.test(value);
}
