import { pemBlocks } from './pem-blocks.ts';
import { isPlaceholder } from './placeholders.ts';
import { looksSecret } from './secret-words.ts';
import { placeOf, type Span } from './span.ts';

/** Lines in one step. */
const LINES_PER_STEP = 64;
const WORDS_PER_STEP = 256;
/** Without the escapes of strings: a backslash ends a word. */
const WORD = /[^\s"'`=,;(){}[\]<>\\]+/g;
/** Shorter words are ordinary ones, longer ones are none. */
const SHORTEST = 8;
const LONGEST = 512;
/** An assignment before a value, in any language. */
const NAME = /([A-Za-z_][A-Za-z0-9_.-]{0,63})["'`\]]{0,2}\s{0,8}(?::=|=>|[=:])\s{0,8}["'`]?$/;
/** Characters before a value that can be its assignment. */
const MAX_BEFORE = 96;

/** Any text, of which only what looks like a token, an address with a password or a private key is hidden. */
export function* tokenValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const blocks = yield* pemBlocks(text);
  if (blocks === undefined) return undefined;
  const spans: Span[] = [];
  let at = 0;
  for (const block of [...blocks, undefined]) {
    yield* addTokensOfLines(spans, text, at, block?.start ?? text.length);
    if (block === undefined) break;
    const { start, end, label, isOfLines } = block;
    at = end;
    if (block.isPublic || start === end) continue;
    const value = text.slice(start, end);
    spans.push({ start, end, value, key: label, place: placeOf([label]), before: '', after: isOfLines ? '\n' : '' });
  }
  return spans;
}

function* addTokensOfLines(spans: Span[], text: string, from: number, to: number): Generator<undefined, void, void> {
  let lines = 0;
  for (let at = from; at < to; ) {
    if (++lines % LINES_PER_STEP === 0) yield;
    const newline = text.indexOf('\n', at);
    const next = newline === -1 || newline >= to ? to : newline + 1;
    yield* addTokens(spans, text.slice(at, next), at);
    at = next;
  }
}

/** Adds the words of a line that look like tokens, in steps; `start`: its position in the text. */
export function* addTokens(spans: Span[], line: string, start: number): Generator<undefined, void, void> {
  let words = 0;
  let after = 0;
  const add = (from: number, value: string) => {
    const names = [nameBefore(line.slice(Math.max(after, from - MAX_BEFORE), from))];
    const where = { start: start + from, end: start + from + value.length };
    spans.push({ ...where, value, key: names[0]!, place: placeOf(names), before: '', after: '' });
    after = from + value.length;
  };
  for (const { 0: word, index } of line.matchAll(WORD)) {
    if (++words % WORDS_PER_STEP === 0) yield;
    if (word.length < SHORTEST) continue;
    if (word.length > LONGEST || /:\/\/.*@/.test(word)) {
      add(index, word);
      continue;
    }
    let from = index;
    for (const part of word.split(':')) {
      const isSecret = looksSecret(part) || isPlaceholder(part);
      if (isSecret && part.length >= SHORTEST) add(from, part);
      from += part.length + 1;
    }
  }
}

/** The name that a value is assigned to, of the text before it; '' if there is none. */
function nameBefore(text: string): string {
  return NAME.exec(text)?.[1] ?? '';
}
