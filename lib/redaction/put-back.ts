import type { Redactor } from '../permissions/redactors.ts';
import { type BoundPlaceholders, isPlaceholder } from './placeholders.ts';
import { type FoundValues, findingValues, type Piece, piecesOf } from './redacted-form.ts';
import { MAX_KEY } from './span.ts';

/** Spans or lines examined in one step. */
const ITEMS_PER_STEP = 64;

/** What may be put back. */
interface Known {
  /** By key and placeholder: the values as the file has them, quotes included. */
  values: Map<string, string[]>;
  /** By key, of those that exist once and are in no list. */
  only: Map<string, string | undefined>;
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
  const known = yield* knowing(base, origin.placeholders);
  const lined = yield* withLines(text, known);
  const first = lined === undefined ? undefined : yield* attempt(lined, known, origin);
  if (first !== undefined) return first;
  return (yield* attempt(text.text, { ...known, lines: new Map() }, origin)) ?? written;
}

function* knowing(base: FoundValues, placeholders: readonly BoundPlaceholders[]): Generator<undefined, Known, void> {
  const known: Known = { values: new Map(), only: new Map(), lines: new Map() };
  for (const [which, each] of placeholders.entries()) {
    for (const [index, { raw, shown, value }] of (yield* piecesOf(base, each)).entries()) {
      if (index % ITEMS_PER_STEP === 0) yield;
      if (value === undefined) {
        if (raw === shown) continue;
        const rawLines = raw.split('\n');
        for (const [at, line] of shown.split('\n').entries()) {
          if (line !== rawLines[at]) known.lines.set(line, rawLines[at]!);
        }
        continue;
      }
      if (value.key.length >= MAX_KEY) continue;
      const at = placeOf(value.key, value.placeholder);
      const values = known.values.get(at);
      if (values === undefined) known.values.set(at, [raw]);
      else values.push(raw);
      if (which === 0 && !isInList(value.key)) known.only.set(value.key, known.only.has(value.key) ? undefined : raw);
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
    const between = text.slice(at, start).split('\n');
    parts.push(between.map((line) => lines.get(line) ?? line).join('\n'), text.slice(start, end));
    at = end;
    if (index % ITEMS_PER_STEP === 0) yield;
  }
  return parts.join('');
}

/** The text with values; undefined: one of them, or of the words of lines, would not be hidden. */
function* attempt(text: string, known: Known, origin: Origin): Generator<undefined, Buffer | undefined, void> {
  const { redactor, placeholders } = origin;
  const found = yield* findingValues(Buffer.from(text, 'utf8'), redactor);
  if (found === undefined) return undefined;
  const used = new Map<string, number>();
  const parts: string[] = [];
  const put = new Map<number, { start: number; end: number }>();
  let at = 0;
  let length = 0;
  const push = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, { start, end, key, value }] of found.spans.entries()) {
    push(found.text.slice(at, start));
    let raw = valueFor(known, key, bare(value), used);
    // That of a block of lines has the end of its last line.
    if (raw?.endsWith('\n') && found.text[end - 1] !== '\n' && found.text[end] === '\n') raw = raw.slice(0, -1);
    const from = length;
    push(raw ?? found.text.slice(start, end));
    if (raw !== undefined) put.set(index, { start: from, end: length });
    at = end;
    if (index % ITEMS_PER_STEP === 0) yield;
  }
  push(found.text.slice(at));
  if (put.size === 0 && known.lines.size === 0) return Buffer.from(text, 'utf8');
  const bytes = Buffer.from(parts.join(''), 'utf8');
  const again = yield* findingValues(bytes, redactor);
  if (again === undefined || again.spans.length !== found.spans.length) return undefined;
  for (const [index, { key, start, end }] of again.spans.entries()) {
    const place = put.get(index);
    if (key !== found.spans[index]!.key) return undefined;
    if (place !== undefined && (place.start < start || place.end > end)) return undefined;
  }
  const pieces = yield* piecesOf(again, placeholders[0]!);
  return known.lines.size === 0 || (yield* hidesLines(pieces, known)) ? bytes : undefined;
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
    const shownLines = shown.split('\n');
    for (const [at, line] of raw.split('\n').entries()) {
      if (shownOf.get(line)?.has(shownLines[at]!) === false) return false;
    }
  }
  return true;
}

function valueFor(known: Known, key: string, placeholder: string, used: Map<string, number>): string | undefined {
  if (key.length >= MAX_KEY || !isPlaceholder(placeholder)) return undefined;
  const at = placeOf(key, placeholder);
  const values = known.values.get(at);
  if (values === undefined) return known.only.get(key);
  const next = used.get(at) ?? 0;
  used.set(at, next + 1);
  return values[Math.min(next, values.length - 1)];
}

/** The index in a list does not count. */
function placeOf(key: string, placeholder: string): string {
  return `${key.replace(/(^|\.)\d+(?=\.|$)/g, '$1*')}\0${placeholder}`;
}

function isInList(key: string): boolean {
  return /(^|\.)\d+(\.|$)/.test(key);
}

/** Without the quotes that a commented assignment has. */
function bare(value: string): string {
  const text = value.trim();
  return /^(["'`]).*\1$/.test(text) ? text.slice(1, -1) : text;
}
