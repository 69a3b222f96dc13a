/** Lines a0 to a1 (exclusive) of the old text become lines b0 to b1 of the new; one range may be empty. */
export interface Block {
  a0: number;
  a1: number;
  b0: number;
  b1: number;
}

/**
 * Maximum number of edits to search; beyond it the rest counts as replaced. Bounds time and memory (8 MiB) for files
 * without common lines.
 */
const MAX_EDITS = 1000;

/**
 * Returns the shortest list of differences of two lists of lines, in order (Myers, "An O(ND) Difference Algorithm",
 * 1986).
 */
export function diffLines(a: readonly string[], b: readonly string[]): Block[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start++;
  }
  let [aEnd, bEnd] = [a.length, b.length];
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--;
    bEnd--;
  }
  if (start === aEnd && start === bEnd) return [];
  if (start === aEnd || start === bEnd) return [{ a0: start, a1: aEnd, b0: start, b1: bEnd }];
  const numbers = new Map<string, number>();
  const blocks = shortest(numbered(a, start, aEnd, numbers), numbered(b, start, bEnd, numbers));
  return blocks.map(({ a0, a1, b0, b1 }) => ({ a0: a0 + start, a1: a1 + start, b0: b0 + start, b1: b1 + start }));
}

/** Maps each line to a number; equal lines have the same. */
function numbered(lines: readonly string[], start: number, end: number, numbers: Map<string, number>): Int32Array {
  const result = new Int32Array(end - start);
  for (let at = start; at < end; at++) {
    const line = lines[at]!;
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    result[at - start] = number;
  }
  return result;
}

function shortest(a: Int32Array, b: Int32Array): Block[] {
  const trace: Int32Array[] = [];
  const max = Math.min(MAX_EDITS, a.length + b.length);
  // furthest[max + 1 + k]: the position in `a` reached with the present number of edits on diagonal k = x - y.
  const furthest = new Int32Array(2 * max + 3);
  const middle = max + 1;
  for (let edits = 0; edits <= max; edits++) {
    trace.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && furthest[middle + k - 1]! < furthest[middle + k + 1]!);
      let x = down ? furthest[middle + k + 1]! : furthest[middle + k - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) {
        x++;
      }
      furthest[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length);
    }
  }
  return [{ a0: 0, a1: a.length, b0: 0, b1: b.length }];
}

function walkBack(trace: readonly Int32Array[], aLength: number, bLength: number): Block[] {
  const blocks: Block[] = [];
  let [x, y] = [aLength, bLength];
  for (let edits = trace.length - 1; edits > 0; edits--) {
    const before = trace[edits]!;
    const middle = edits + 1;
    const k = x - y;
    const down = k === -edits || (k !== edits && before[middle + k - 1]! < before[middle + k + 1]!);
    const fromX = before[middle + (down ? k + 1 : k - 1)]!;
    const fromY = fromX - (down ? k + 1 : k - 1);
    const [toX, toY] = down ? [fromX, fromY + 1] : [fromX + 1, fromY];
    const next = blocks.at(-1);
    if (next !== undefined && next.a0 === toX && next.b0 === toY) [next.a0, next.b0] = [fromX, fromY];
    else blocks.push({ a0: fromX, a1: toX, b0: fromY, b1: toY });
    [x, y] = [fromX, fromY];
  }
  return blocks.reverse();
}
