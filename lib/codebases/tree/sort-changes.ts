import { byName, type Change } from '../../trees/directory/pieces.ts';
import type { Entry } from '../../trees/format/entry.ts';
import type { DraftDirectory } from './draft.ts';

export type DraftChange = readonly [Change[0], Entry | DraftDirectory | undefined];

/** Names that are sorted or merged in one step. */
const STEP = 1024;

/** Ascending names. A directory may have millions of changes, so it is done in steps. */
export function* sortChanges(changes: Iterable<DraftChange>): Generator<void, DraftChange[], void> {
  let runs: DraftChange[][] = [];
  let run: DraftChange[] = [];
  for (const change of changes) {
    if (run.push(change) < STEP) continue;
    runs.push(run.sort(order));
    run = [];
    yield;
  }
  runs.push(run.sort(order));
  while (runs.length > 1) {
    const merged: DraftChange[][] = [];
    for (let index = 0; index < runs.length; index += 2) merged.push(yield* merge(runs[index]!, runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0]!;
}

function* merge(a: DraftChange[], b: DraftChange[]): Generator<void, DraftChange[], void> {
  if (b.length === 0) return a;
  const merged: DraftChange[] = [];
  for (let [x, y] = [0, 0]; x < a.length || y < b.length; ) {
    const first = y === b.length || (x < a.length && a[x]![0] < b[y]![0]);
    merged.push(first ? a[x++]! : b[y++]!);
    if (merged.length % STEP === 0) yield;
  }
  return merged;
}

function order(a: DraftChange, b: DraftChange): number {
  return byName(a as Change, b as Change);
}
