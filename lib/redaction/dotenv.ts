import { isPlainSetting } from './plain-settings.ts';
import { isConstant, type Span } from './span.ts';

/** Lines in one step. */
const LINES_PER_STEP = 64;

const BLANK = /^\s*$/;
const ASSIGNMENT = /^(\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]{0,127})(?:\s*=|:\s)[^\S\n]*)(.*)$/s;
/** An assignment that was made a comment has a value all the same. */
const COMMENT = /^\s*#/;
const COMMENTED = /^(\s*#[#\s]*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*)(.*)$/s;

/**
 * `NAME=value` lines. Programs disagree about quotes and about a comment behind a value, so everything from the beginning
 * of a value to the end of its last line is hidden, and a file with a line of another form is not of this format.
 */
export function* dotenvValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let lines = 0;
  for (let at = 0; at < text.length; ) {
    if (++lines % LINES_PER_STEP === 0) yield;
    const end = endOfLine(text, at);
    const line = text.slice(at, end);
    if (BLANK.test(line)) {
      at = end + 1;
      continue;
    }
    const isComment = COMMENT.test(line);
    const [, head, key, rest] = (isComment ? COMMENTED : ASSIGNMENT).exec(line) ?? [];
    if (head === undefined || key === undefined || rest === undefined) {
      if (!isComment) return undefined;
      at = end + 1;
      continue;
    }
    const start = at + head.length;
    // `name==` is the last line of a text in base64.
    if (!isComment && rest.startsWith('=')) return undefined;
    const value = isComment ? { end, value: rest.trim() } : valueAt(text, start, end);
    if (value === undefined) return undefined;
    const last = endWithoutReturn(text, start, value.end);
    const raw = text.slice(start, last);
    if (!isConstant(raw) && !isPlainSetting(key, raw)) {
      const quote = quoteOf(text[start]);
      spans.push({ start, end: last, key, place: key, value: value.value, before: quote, after: quote });
    }
    at = value.end + 1;
  }
  return spans;
}

function quoteOf(first: string | undefined): string {
  return first === '"' || first === "'" || first === '`' ? first : '';
}

/** The value at `start`, and the end of its last line. */
function valueAt(text: string, start: number, end: number): { value: string; end: number } | undefined {
  const quote = quoteOf(text[start]);
  if (quote === '') return { value: withoutComment(text.slice(start, end)), end };
  let close = start + 1;
  while (close < text.length && text[close] !== quote) close += text[close] === '\\' ? 2 : 1;
  if (close >= text.length) return undefined;
  const inside = text.slice(start + 1, close);
  return { value: quote === '"' ? unescaped(inside) : inside, end: endOfLine(text, close) };
}

function withoutComment(value: string): string {
  // `s`: with `$` behind a line end that `.` does not match, each comment sign would search the rest again.
  return value.replace(/\s#.*$/s, '').trim();
}

function unescaped(inside: string): string {
  return inside.replace(/\\([nrt"\\$])/g, (_, char: string) => ({ n: '\n', r: '\r', t: '\t' })[char] ?? char);
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at === -1 ? text.length : at;
}

function endWithoutReturn(text: string, start: number, end: number): number {
  return end > start && text[end - 1] === '\r' ? end - 1 : end;
}
