import { isPlaceholder } from './placeholders.ts';
import { bare, type Origin } from './put-back.ts';
import { type FoundValues, findingValues, type Piece, piecesOf } from './redacted-form.ts';

/** Pieces compared in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Whether a text is that of the base with placeholders in place of some values, in steps. Of which values they are does not
 * count: after a change of the base they can have other ones.
 */
export function* isForm(
  written: Buffer,
  { base, redactor, placeholders }: Origin,
): Generator<undefined, boolean, void> {
  const text = yield* findingValues(written, redactor);
  const found = yield* findingValues(base, redactor);
  if (text === undefined || found === undefined) return written.equals(base);
  if (text.spans.length !== found.spans.length) return false;
  for (const each of placeholders) if (yield* isShownAs(text, yield* piecesOf(found, each))) return true;
  return false;
}

function* isShownAs({ text, spans }: FoundValues, pieces: readonly Piece[]): Generator<undefined, boolean, void> {
  let at = 0;
  for (const [index, { raw, shown, value }] of pieces.entries()) {
    if (index % ITEMS_PER_STEP === 0) yield;
    // Those between values have even indices.
    const span = spans[index >> 1];
    const end = value === undefined ? span?.start : span!.end;
    const part = text.slice(value === undefined ? at : span!.start, end);
    const isEqual = part === raw || (value === undefined ? part === shown : isPlaceholder(bare(span!.value)));
    if (!isEqual) return false;
    at = end ?? text.length;
    // A block of lines has the end of its last line, a placeholder in place of it has not.
    if (value !== undefined && raw.endsWith('\n') && text[at - 1] !== '\n' && text[at] === '\n') at++;
  }
  return true;
}
