import type { Redactor } from '../permissions/redactors.ts';
import { type BoundPlaceholders, isPlaceholder } from './placeholders.ts';
import { type FoundValues, findingValues, type Piece, piecesOf, wordsOf } from './redacted-form.ts';
import { isInList, MAX_PLACE, type Span } from './span.ts';

/** Spans or lines examined in one step. */
const ITEMS_PER_STEP = 64;
const LINES_PER_STEP = 1024;
/** New words between values, above which the values that are one of them stay placeholders. */
const MAX_NEW_WORDS = 64;

/** A value as the file has it, quotes included, and as a program that reads the file gets it. */
interface KnownValue {
  raw: string;
  value: string;
}

/** What may be put back. */
interface Known {
  /** By place and placeholder, of those that the text has. */
  values: Map<string, KnownValue[]>;
  /** By place, of those that exist once and are in no list. */
  only: Map<string, KnownValue | undefined>;
  /** Lines between values, by how they are shown. */
  lines: Map<string, string>;
}

/** What puts values back: those of `base`, the file of the codebase at the same path, and nothing else. */
export interface Origin {
  base: Buffer;
  redactor: Redactor;
  /** Those that `written` may have: the first one is shown from now on. At least one. */
  placeholders: readonly BoundPlaceholders[];
}

/**
 * What a commit of an agent's text stores: the values of the base in place of placeholders that are at their keys, in
 * steps. The order of lists does not matter. A placeholder whose value was replaced in the base, at a key that the base has
 * once, stands for the present value.
 *
 * Threat: an agent moves a placeholder to where the redactor shows the value, or where another program does. So a value is
 * put at its own key only, and the result is read again: each value must be hidden in it where it was put. Otherwise
 * nothing is put back.
 */
export function* puttingBack(written: Buffer, origin: Origin): Generator<undefined, Buffer, void> {
  const text = yield* findingValues(written, origin.redactor);
  const base = yield* findingValues(origin.base, origin.redactor);
  if (text === undefined || base === undefined) return written;
  const wanted = { present: yield* placeholdersOf(text), guessed: yield* guessing(text, base) };
  const known = yield* knowing(base, origin.placeholders, wanted);
  const lined = yield* withLines(text, known);
  const first = lined === undefined ? undefined : yield* attempt(lined, text.spans, known, origin);
  if (first !== undefined) return first;
  return (yield* attempt(text.text, text.spans, { ...known, lines: new Map() }, origin)) ?? written;
}

/** Values that are placeholders. */
function* placeholdersOf({ spans }: FoundValues): Generator<undefined, ReadonlySet<string>, void> {
  const present = new Set<string>();
  for (const [index, { value }] of spans.entries()) {
    if (isPlaceholder(bare(value))) present.add(bare(value));
    if (index % ITEMS_PER_STEP === 0) yield;
  }
  return present;
}

/**
 * The values that an agent may have guessed. Threat: a word between values that is one of them would be hidden after the
 * commit, so that a list of words would show which of them is a value. None if the text has few new words.
 */
function* guessing(text: FoundValues, base: FoundValues): Generator<undefined, ReadonlySet<string>, void> {
  const values = new Set(base.spans.map(({ value }) => value));
  const before = yield* wordsOf(base);
  const guessed = new Set<string>();
  let looked = 0;
  let count = 0;
  for (const word of yield* wordsOf(text)) {
    if (!isPlaceholder(word) && (values.has(word) || !before.has(word))) count++;
    if (values.has(word)) guessed.add(word);
    if (++looked % LINES_PER_STEP === 0) yield;
  }
  return count > MAX_NEW_WORDS ? guessed : new Set();
}

function* knowing(
  base: FoundValues,
  placeholders: readonly BoundPlaceholders[],
  { present, guessed }: { present: ReadonlySet<string>; guessed: ReadonlySet<string> },
): Generator<undefined, Known, void> {
  const known: Known = { values: new Map(), only: new Map(), lines: new Map() };
  for (const [which, each] of placeholders.entries()) {
    for (const [index, { raw, shown, value }] of (yield* piecesOf(base, each)).entries()) {
      if (index % ITEMS_PER_STEP === 0) yield;
      if (value === undefined) {
        if (raw === shown) continue;
        const rawLines = yield* linesOf(raw);
        for (const [at, line] of (yield* linesOf(shown)).entries()) {
          if (line !== rawLines[at]) known.lines.set(line, rawLines[at]!);
          if (at % LINES_PER_STEP === 0) yield;
        }
        continue;
      }
      if (value.place.length >= MAX_PLACE || guessed.has(value.value)) continue;
      if (present.has(value.placeholder)) {
        const at = `${value.place}\0${value.placeholder}`;
        const values = known.values.get(at);
        if (values === undefined) known.values.set(at, [{ raw, ...value }]);
        else values.push({ raw, ...value });
      }
      if (which > 0 || isInList(value.place)) continue;
      known.only.set(value.place, known.only.has(value.place) ? undefined : { raw, ...value });
    }
    yield;
  }
  return known;
}

/** A text with the lines of the base in place of those shown; undefined: they are the same. */
function* withLines({ text, spans }: FoundValues, { lines }: Known): Generator<undefined, string | undefined, void> {
  if (lines.size === 0) return undefined;
  const parts: string[] = [];
  let at = 0;
  for (const [index, { start, end }] of [...spans, { start: text.length, end: text.length }].entries()) {
    const between = yield* linesOf(text.slice(at, start));
    for (const [which, line] of between.entries()) {
      between[which] = lines.get(line) ?? line;
      if (which % LINES_PER_STEP === 0) yield;
    }
    parts.push(between.join('\n'), text.slice(start, end));
    at = end;
    if (index % ITEMS_PER_STEP === 0) yield;
  }
  return parts.join('');
}

function* linesOf(text: string): Generator<undefined, string[], void> {
  const lines: string[] = [];
  for (let at = 0; ; ) {
    const end = text.indexOf('\n', at);
    lines.push(end === -1 ? text.slice(at) : text.slice(at, end));
    if (end === -1) return lines;
    at = end + 1;
    if (lines.length % LINES_PER_STEP === 0) yield;
  }
}

/** The text with values; undefined: one of them, or of the words of lines, would not be hidden. `as`: its values before. */
function* attempt(
  text: string,
  as: readonly Span[],
  known: Known,
  origin: Origin,
): Generator<undefined, Buffer | undefined, void> {
  const { redactor, placeholders } = origin;
  const found = yield* findingValues(Buffer.from(text, 'utf8'), redactor);
  // Lines that were put back must not have made a value a part of the text between values.
  if (found?.spans.length !== as.length) return undefined;
  const used = new Map<string, number>();
  const parts: string[] = [];
  const put = new Map<number, { start: number; end: number; value: string }>();
  let at = 0;
  let length = 0;
  const push = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, { start, end, place, value }] of found.spans.entries()) {
    push(found.text.slice(at, start));
    const putting = valueFor(known, place, bare(value), used);
    let raw = putting?.raw;
    // That of a block of lines has the end of its last line.
    if (raw?.endsWith('\n') && found.text[end - 1] !== '\n' && found.text[end] === '\n') raw = raw.slice(0, -1);
    const from = length;
    push(raw ?? found.text.slice(start, end));
    if (putting !== undefined) put.set(index, { start: from, end: length, value: putting.value });
    if (raw?.endsWith('\n') === false && found.text[end - 1] === '\n') push('\n');
    at = end;
    if (index % ITEMS_PER_STEP === 0) yield;
  }
  push(found.text.slice(at));
  if (put.size === 0 && known.lines.size === 0) return Buffer.from(text, 'utf8');
  const bytes = Buffer.from(parts.join(''), 'utf8');
  const again = yield* findingValues(bytes, redactor);
  if (again === undefined || again.spans.length !== found.spans.length) return undefined;
  for (const [index, { place, start, end, value }] of again.spans.entries()) {
    const at = put.get(index);
    if (place !== found.spans[index]!.place) return undefined;
    if (at !== undefined && (at.start < start || at.end > end)) return undefined;
    // A block of lines is another value in a list of one line. Quotes in a comment of dotenv belong to the value.
    if (at !== undefined && redactor !== 'dotenv' && at.value !== value) return undefined;
    // Nor has a value become a part of the text behind it, or that of the value.
    if (behind(again, index) !== behind(found, index)) return undefined;
    if (index % ITEMS_PER_STEP === 0) yield;
  }
  if (known.lines.size === 0) return bytes;
  return (yield* hidesLines(yield* piecesOf(again, placeholders[0]!), known)) ? bytes : undefined;
}

/** The text from a value to the next one, without the end of the value's last line. */
function behind({ text, spans }: FoundValues, index: number): string {
  const { end } = spans[index]!;
  const next = text.slice(end, spans[index + 1]?.start);
  return text[end - 1] !== '\n' && next.startsWith('\n') ? next.slice(1) : next;
}

/** Whether each line of the base that was put back has no word that it did not show before. */
function* hidesLines(pieces: readonly Piece[], { lines }: Known): Generator<undefined, boolean, void> {
  const shownOf = new Map<string, Set<string>>();
  for (const [shown, raw] of lines) {
    const all = shownOf.get(raw) ?? new Set();
    shownOf.set(raw, all.add(shown));
  }
  for (const [index, { raw, shown, value }] of pieces.entries()) {
    if (index % ITEMS_PER_STEP === 0) yield;
    if (value !== undefined) continue;
    const shownLines = yield* linesOf(shown);
    for (const [at, line] of (yield* linesOf(raw)).entries()) {
      if (at % LINES_PER_STEP === 0) yield;
      if (shownOf.get(line)?.has(shownLines[at]!) === false) return false;
    }
  }
  return true;
}

function valueFor(known: Known, place: string, placeholder: string, used: Map<string, number>): KnownValue | undefined {
  if (place.length >= MAX_PLACE || !isPlaceholder(placeholder)) return undefined;
  const at = `${place}\0${placeholder}`;
  const values = known.values.get(at);
  if (values === undefined) return known.only.get(place);
  const next = used.get(at) ?? 0;
  used.set(at, next + 1);
  return values[Math.min(next, values.length - 1)];
}

/** Without the quotes that a commented assignment has. */
export function bare(value: string): string {
  const text = value.trim();
  return /^(["'`]).*\1$/.test(text) ? text.slice(1, -1) : text;
}
