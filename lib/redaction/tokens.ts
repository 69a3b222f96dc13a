import { BEGIN, END, isPublic } from './pem-labels.ts';
import { isPlaceholder } from './placeholders.ts';
import { looksSecret } from './secret-words.ts';
import { placeOf, type Span } from './span.ts';

/** Lines in one step. */
const LINES_PER_STEP = 64;
const WORD = /[^\s"'`=,;(){}[\]<>]+/g;
/** Shorter words are ordinary ones, longer ones are none. */
const SHORTEST = 8;
const LONGEST = 512;
const PLACE = placeOf(['']);

/** Any text, of which only what looks like a token, an address with a password or a private key is hidden. */
export function* tokenValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let open: { label: string; start: number } | undefined;
  let lines = 0;
  for (let at = 0; at < text.length; ) {
    if (++lines % LINES_PER_STEP === 0) yield;
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, next);
    const label = BEGIN.exec(line)?.[1];
    if (open !== undefined && END.exec(line)?.[1] === open.label) {
      const value = text.slice(open.start, at);
      if (!isPublic(open.label)) spans.push(spanOf(open.start, at, value, '\n'));
      open = undefined;
    } else if (open === undefined && label !== undefined) open = { label, start: next };
    else if (open === undefined) addTokens(spans, line, at);
    at = next;
  }
  return open === undefined ? spans : undefined;
}

/** Adds the words of a line that look like tokens; `start`: its position in the text. */
export function addTokens(spans: Span[], line: string, start: number): void {
  for (const { 0: word, index } of line.matchAll(WORD)) {
    if (word.length < SHORTEST) continue;
    if (word.length > LONGEST || /:\/\/.*@/.test(word)) {
      spans.push(spanOf(start + index, start + index + word.length, word));
      continue;
    }
    let from = start + index;
    for (const part of word.split(':')) {
      const isSecret = looksSecret(part) || isPlaceholder(part);
      if (isSecret && part.length >= SHORTEST) spans.push(spanOf(from, from + part.length, part));
      from += part.length + 1;
    }
  }
}

const spanOf = (start: number, end: number, value: string, after = ''): Span => ({
  ...{ start, end, value, after },
  ...{ key: '', place: PLACE, before: '' },
});
