import type { Span } from './span.ts';

/** Lines in one step. */
const LINES_PER_STEP = 256;
const BEGIN = /^-----BEGIN ([A-Z0-9][A-Z0-9 ]{0,63})-----\s*$/;
const END = /^-----END ([A-Z0-9][A-Z0-9 ]{0,63})-----\s*$/;

/** Blocks of PEM: what is between a BEGIN and its END line is hidden. Between blocks only comments are allowed. */
export function* pemValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  let open: { label: string; start: number } | undefined;
  let lines = 0;
  for (let at = 0; at < text.length; ) {
    if (++lines % LINES_PER_STEP === 0) yield;
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, next);
    if (open === undefined) {
      const label = BEGIN.exec(line)?.[1];
      if (label !== undefined) open = { label, start: next };
      else if (!/^\s*(#.*)?$/s.test(line)) return undefined;
    } else if (END.exec(line)?.[1] === open.label) {
      const { label, start } = open;
      spans.push({ start, end: at, key: label, place: label, value: text.slice(start, at), before: '', after: '\n' });
      open = undefined;
    } else if (BEGIN.test(line) || END.test(line)) return undefined;
    at = next;
  }
  return open === undefined && spans.length > 0 ? spans : undefined;
}
