import type { ByteString } from '../byte-string.ts';
import { StepCounter, type Steps } from '../fuse/connection/steps.ts';

/** Names sorted or merged in one step. */
const ITEMS_PER_STEP = 512;

/** Returns names in byte order (one char is one byte), in steps: a bottom-up merge sort. */
export function* sorted(names: readonly ByteString[]): Steps<ByteString[], undefined> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  let runs: ByteString[][] = [];
  for (let start = 0; start < names.length; start += ITEMS_PER_STEP) {
    runs.push(names.slice(start, start + ITEMS_PER_STEP).sort());
    yield;
  }
  while (runs.length > 1) {
    const merged: ByteString[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const next = runs[at + 1];
      merged.push(next === undefined ? runs[at]! : yield* merge(runs[at]!, next, counter));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(
  a: readonly ByteString[],
  b: readonly ByteString[],
  counter: StepCounter,
): Steps<ByteString[], undefined> {
  const merged: ByteString[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const [first, second] = [a[i], b[j]];
    if (second === undefined || (first !== undefined && first <= second)) {
      merged.push(first!);
      i++;
    } else {
      merged.push(second);
      j++;
    }
    yield* counter.count();
  }
  return merged;
}
