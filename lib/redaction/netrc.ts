import { joinKeys, placeOf, type Span } from './span.ts';

const WORDS_PER_STEP = 64;
const WORD = /#[^\n]*|"(?:[^"\\\n]|\\.)*"|\S+/g;
const FIELDS = ['login', 'password', 'account'];

/** Entries of a .netrc file: names of machines are shown, what is used to log in is hidden. Macros are not understood. */
export function* netrcValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let machine = '';
  /** What the next word is. */
  let next: string | undefined;
  let words = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (++words % WORDS_PER_STEP === 0) yield;
    if (next === 'machine') {
      machine = word;
      next = undefined;
    } else if (next !== undefined) {
      const names = [machine, next];
      const where = { key: joinKeys(names), place: placeOf(names) };
      spans.push({ start: index, end: index + word.length, ...where, value: word, before: '', after: '' });
      next = undefined;
    } else if (word === 'default') machine = word;
    else if (word === 'machine' || FIELDS.includes(word)) next = word;
    else if (!word.startsWith('#')) return undefined;
  }
  return next === undefined ? spans : undefined;
}
