import { breaks } from './breaks.ts';

/** Items between two looks at the clock. */
const ITEMS = 256;

/** Calls `step` for every item, in order, and lets other events be handled in between: a list may have 100,000 items. */
export async function forEach<T>(items: readonly T[], step: (item: T, index: number) => void): Promise<void> {
  for (let from = 0; from < items.length; from += ITEMS) {
    const to = Math.min(items.length, from + ITEMS);
    for (let index = from; index < to; index++) step(items[index]!, index);
    const due = breaks.due();
    if (due !== undefined) await due;
  }
}

/** The items that `keep` holds for; like `forEach`. */
export async function filtered<T>(items: readonly T[], keep: (item: T) => boolean): Promise<T[]> {
  const kept: T[] = [];
  await forEach(items, (item) => {
    if (keep(item)) kept.push(item);
  });
  return kept;
}

/** Whether `holds` is true of every item; like `forEach`, but ends at the first item that it is false of. */
export async function every<T>(items: readonly T[], holds: (item: T) => boolean): Promise<boolean> {
  for (let from = 0; from < items.length; from += ITEMS) {
    if (!items.slice(from, from + ITEMS).every(holds)) return false;
    const due = breaks.due();
    if (due !== undefined) await due;
  }
  return true;
}

/**
 * The items in the order of `compare`, by a stable merge sort, in steps of at most some hundred items.
 */
export function* sorting<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, readonly T[], void> {
  if (items.length <= ITEMS) return [...items].sort(compare);
  const middle = items.length >> 1;
  const left = yield* sorting(items.slice(0, middle), compare);
  yield;
  const right = yield* sorting(items.slice(middle), compare);
  yield;
  if (compare(left.at(-1)!, right[0]!) <= 0) return left.concat(right);
  const all: T[] = [];
  for (let l = 0, r = 0; l < left.length || r < right.length; ) {
    const fromLeft = r === right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0);
    all.push(fromLeft ? left[l++]! : right[r++]!);
    if (all.length % ITEMS === 0) yield;
  }
  return all;
}
