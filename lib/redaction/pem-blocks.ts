import { isPublic } from './pem-labels.ts';

/** What is between the marks of a key, a certificate and the like: from `start` to before `end`. */
export interface PemBlock {
  start: number;
  end: number;
  label: string;
  isPublic: boolean;
  /** Whether its marks are lines by themselves. */
  isOfLines: boolean;
}

/** Marks in one step. */
const MARKS_PER_STEP = 64;
/** Characters searched in one step, if there are no marks. */
const SEARCHED_PER_STEP = 8 * 1024;
/** A mark and its label are shorter. */
const LONGEST_MARK = 100;
/** The form of RFC 7468, and that of SSH2. */
const MARK = /-{4,5} ?(BEGIN|END) ([A-Z0-9][A-Z0-9 ]{0,63}?) ?-{4,5}/g;
/** Digits of a key. Programs that read keys have the marks, too, but no such word between them. */
const DIGITS = /[A-Za-z0-9+/]{20}/;
/** What is looked at behind a mark without an end, of a key that was cut off. */
const MAX_CUT = 256;
const MANY_DIGITS = /[A-Za-z0-9+/]{32}/;

interface Mark {
  kind: string;
  label: string;
  from: number;
  to: number;
}

/**
 * The blocks of a text, in its order and in steps, also those in one line of JSON or of a program, with an indent or
 * behind a byte-order mark. Without those that have no digits. undefined: a key has a beginning and no end.
 */
export function* pemBlocks(text: string): Generator<undefined, PemBlock[] | undefined, void> {
  const marks = yield* marksOf(text);
  const blocks: PemBlock[] = [];
  for (const [index, { kind, label, to }] of marks.entries()) {
    if (index % MARKS_PER_STEP === 0) yield;
    if (kind !== 'BEGIN') continue;
    const end = marks[index + 1];
    // Threat: a key between the marks of a certificate. Only marks that follow each other make a block.
    const isClosed = end?.kind === 'END' && end.label === label;
    const isKey = !isPublic(label);
    const line = lineEnd(text, to);
    if (!isClosed) {
      if (isKey && (line !== undefined || MANY_DIGITS.test(text.slice(to, to + MAX_CUT)))) return undefined;
      continue;
    }
    const isOfLines = line !== undefined && /(^|\n)[^\S\n]*$/.test(text.slice(Math.max(line, end.from - 64), end.from));
    if (!isOfLines && !DIGITS.test(text.slice(to, end.from))) continue;
    const start = isOfLines ? line : to;
    const last = isOfLines ? Math.max(start, text.lastIndexOf('\n', end.from) + 1) : end.from;
    blocks.push({ start, end: last, label, isPublic: !isKey, isOfLines });
  }
  return blocks;
}

function* marksOf(text: string): Generator<undefined, Mark[], void> {
  const marks: Mark[] = [];
  for (let at = 0; at < text.length; at += SEARCHED_PER_STEP) {
    const part = text.slice(at, at + SEARCHED_PER_STEP + LONGEST_MARK);
    for (const { 0: mark, 1: kind, 2: label, index } of part.matchAll(MARK)) {
      const from = at + index;
      // The next part has it completely.
      if (index >= SEARCHED_PER_STEP) break;
      if (from >= (marks.at(-1)?.to ?? 0)) marks.push({ kind: kind!, label: label!, from, to: from + mark.length });
    }
    yield;
  }
  return marks;
}

/** Where the next line begins, if nothing but white space is before it; undefined: there is more. */
function lineEnd(text: string, from: number): number | undefined {
  const [white] = /^[^\S\n]*\n/.exec(text.slice(from, from + 64)) ?? [];
  return white === undefined ? undefined : from + white.length;
}
