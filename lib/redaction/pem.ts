import { BEGIN, END, isPublic } from './pem-labels.ts';
import type { Span } from './span.ts';
import { addTokens } from './tokens.ts';

/** Lines in one step. */
const LINES_PER_STEP = 128;
const COMMENT = /^\s*(#.*)?$/s;
/** In the text that programs print beside a certificate or a key. */
const OF_PRIVATE_KEY = /private|passw|secret|prime\d|exponent\d|coefficient/i;

/**
 * Blocks of PEM: what is between a BEGIN and its END line is hidden, unless its label is that of something public. Beside
 * hidden blocks only comments are allowed: a program that prints a key prints its numbers, too.
 */
export function* pemValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let open: { label: string; start: number } | undefined;
  let [blocks, hidden, lines] = [0, 0, 0];
  let hasText = false;
  for (let at = 0; at < text.length; ) {
    if (++lines % LINES_PER_STEP === 0) yield;
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, next);
    if (open === undefined) {
      const label = BEGIN.exec(line)?.[1];
      if (label !== undefined) open = { label, start: next };
      else if (END.test(line) || OF_PRIVATE_KEY.test(line)) return undefined;
      else {
        hasText ||= !COMMENT.test(line);
        yield* addTokens(spans, line, at);
      }
    } else if (END.exec(line)?.[1] === open.label) {
      const { label, start } = open;
      blocks++;
      if (!isPublic(label)) {
        hidden++;
        spans.push({ start, end: at, key: label, place: label, value: text.slice(start, at), before: '', after: '\n' });
      }
      open = undefined;
    } else if (BEGIN.test(line) || END.test(line)) return undefined;
    at = next;
  }
  if (open !== undefined || (hidden > 0 && hasText)) return undefined;
  return blocks > 0 || !hasText ? spans : undefined;
}
