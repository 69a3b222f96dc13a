import { diff3Merge } from 'node-diff3';

/** Larger texts are not merged: the time grows with the square of their lines. */
const MOST_BYTES = 1024 * 1024;
const MOST_LINES = 20_000;

/**
 * The lines of both sides, if no line was changed by both. undefined: they conflict, or are no text of UTF-8. Lines are
 * compared with their ends, so that these stay as they are.
 */
export function mergeTexts(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | undefined {
  const [o, a, b] = [base, ours, theirs].map(linesOf);
  if (!o || !a || !b) return undefined;
  const merged: string[] = [];
  for (const { ok } of diff3Merge(a, o, b, { excludeFalseConflicts: true })) {
    if (!ok) return undefined;
    merged.push(...ok);
  }
  return new TextEncoder().encode(merged.join(''));
}

function linesOf(bytes: Uint8Array): string[] | undefined {
  if (bytes.length > MOST_BYTES || bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return lines.length > MOST_LINES ? undefined : lines;
  } catch {
    return undefined;
  }
}
