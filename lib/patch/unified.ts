import { type Block, diffLines } from './line-diff.ts';

/** Equal lines that are shown on each side of a difference. */
export const CONTEXT = 3;

/** The hunks of a unified diff of two texts (one char per byte); '' if they are equal. */
export function hunks(before: string, after: string): string {
  const a = linesOf(before);
  const b = linesOf(after);
  const blocks = diffLines(a, b);
  let text = '';
  for (let from = 0; from < blocks.length; ) {
    let to = from + 1;
    while (to < blocks.length && blocks[to]!.a0 - blocks[to - 1]!.a1 <= 2 * CONTEXT) to++;
    text += hunk(a, b, blocks.slice(from, to));
    from = to;
  }
  return text;
}

function hunk(a: readonly string[], b: readonly string[], blocks: readonly Block[]): string {
  const [first, last] = [blocks[0]!, blocks.at(-1)!];
  const before = Math.min(CONTEXT, first.a0);
  const after = Math.min(CONTEXT, a.length - last.a1);
  const [a0, b0] = [first.a0 - before, first.b0 - before];
  let text = `@@ -${range(a0, last.a1 + after)} +${range(b0, last.b1 + after)} @@\n`;
  let at = a0;
  for (const block of blocks) {
    for (; at < block.a0; at++) text += line(' ', a[at]!);
    for (; at < block.a1; at++) {
      text += line('-', a[at]!);
    }
    for (let added = block.b0; added < block.b1; added++) {
      text += line('+', b[added]!);
    }
  }
  for (; at < last.a1 + after; at++) text += line(' ', a[at]!);
  return text;
}

/** An empty range is denoted by the line before it. */
function range(from: number, to: number): string {
  return to === from ? `${from},0` : `${from + 1},${to - from}`;
}

function line(mark: string, text: string): string {
  return text.endsWith('\n') ? `${mark}${text}` : `${mark}${text}\n\\ No newline at end of file\n`;
}

/** Lines with their terminators; the last one may have none. */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from) + 1 || text.length;
    lines.push(text.slice(from, end));
    from = end;
  }
  return lines;
}
