import type { Hunk } from '../contract/messages.ts';
import { type Block, diffLines } from './line-diff.ts';
import { CONTEXT, linesOf } from './unified.ts';

/** The differences of two texts. The same texts have the same hunks at each call, so an index names one. */
export function hunksOf(before: string, after: string): Hunk[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const blocks = diffLines(a, b);
  return blocks.map(({ a0, a1, b0, b1 }, index) => {
    // An equal line is in the context of the hunks beside it only.
    const from = Math.max(a0 - CONTEXT, blocks[index - 1]?.a1 ?? 0);
    const to = Math.min(a1 + CONTEXT, blocks[index + 1]?.a0 ?? a.length);
    return {
      old_start: a0 + 1,
      old_lines: a1 - a0,
      new_start: b0 + 1,
      new_lines: b1 - b0,
      before: a.slice(from, a0).join(''),
      removed: a.slice(a0, a1).join(''),
      added: b.slice(b0, b1).join(''),
      after: a.slice(a1, to).join(''),
    };
  });
}

/** `before` with these of the differences, by index in ascending order; undefined: there is none, or an index names none. */
export function withHunks(before: string, after: string, indexes: readonly number[]): string | undefined {
  const [a, b] = [linesOf(before), linesOf(after)];
  const blocks = diffLines(a, b);
  if (indexes.length === 0) return undefined;
  let text = '';
  let at = 0;
  let last = -1;
  for (const index of indexes) {
    const block: Block | undefined = blocks[index];
    if (block === undefined || index <= last) return undefined;
    last = index;
    text += a.slice(at, block.a0).join('') + b.slice(block.b0, block.b1).join('');
    at = block.a1;
  }
  return text + a.slice(at).join('');
}
