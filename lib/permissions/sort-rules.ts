import { comparePrecedence, type RankedRule } from './precedence.ts';

/** Rules sorted or merged in one step. */
const RULES_PER_STEP = 256;

/** Returns the rules in order of precedence, in steps: a bottom-up merge sort. */
export function* sortRules<T extends RankedRule>(rules: readonly T[]): Generator<undefined, T[], void> {
  let runs: T[][] = [];
  for (let start = 0; start < rules.length; start += RULES_PER_STEP) {
    runs.push(rules.slice(start, start + RULES_PER_STEP).sort(comparePrecedence));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const next = runs[at + 1];
      merged.push(next === undefined ? runs[at]! : yield* merge(runs[at]!, next));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T extends RankedRule>(a: readonly T[], b: readonly T[]): Generator<undefined, T[], void> {
  const merged: T[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const [first, second] = [a[i], b[j]];
    if (second === undefined || (first !== undefined && comparePrecedence(first, second) < 0)) {
      merged.push(first!);
      i++;
    } else {
      merged.push(second);
      j++;
    }
    if (merged.length % RULES_PER_STEP === 0) yield;
  }
  return merged;
}
