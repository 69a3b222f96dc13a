import type { ByteString } from '../byte-string.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import { DividedList, type Listed } from './divided-list.ts';

/** Names sorted or merged in one step. */
const ITEMS_PER_STEP = 512;

/** Returns names in byte order (one char is one byte), in steps: a bottom-up merge sort. */
export function* sorted(names: Iterable<ByteString>): Steps<Listed<ByteString>, undefined> {
  let runs = yield* shortRuns(names);
  while (runs.length > 1) {
    const merged: DividedList<ByteString>[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const next = runs[at + 1];
      merged.push(next === undefined ? runs[at]! : yield* merge(runs[at]!, next));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* shortRuns(names: Iterable<ByteString>): Steps<DividedList<ByteString>[], undefined> {
  const runs: DividedList<ByteString>[] = [];
  let some: ByteString[] = [];
  for (const name of names) {
    some.push(name);
    if (some.length < ITEMS_PER_STEP) continue;
    runs.push(new DividedList(some.sort()));
    some = [];
    yield;
  }
  if (some.length > 0) runs.push(new DividedList(some.sort()));
  return runs;
}

function* merge(a: DividedList<ByteString>, b: DividedList<ByteString>): Steps<DividedList<ByteString>, undefined> {
  const merged = new DividedList<ByteString>();
  const [left, right] = [new Position(a), new Position(b)];
  for (let count = 1; left.item !== undefined || right.item !== undefined; count++) {
    const from = right.item === undefined || (left.item !== undefined && left.item <= right.item) ? left : right;
    merged.push(from.item!);
    from.advance();
    if (count % ITEMS_PER_STEP === 0) yield;
  }
  return merged;
}

/** A position in a list. */
class Position<T> {
  readonly #parts: readonly (readonly T[])[];
  #part = 0;
  #index = 0;
  /** undefined: the end. */
  item: T | undefined;

  constructor({ parts }: DividedList<T>) {
    this.#parts = parts;
    this.item = parts[0]?.[0];
  }

  advance(): void {
    if (++this.#index === this.#parts[this.#part]!.length) {
      this.#index = 0;
      this.#part++;
    }
    this.item = this.#parts[this.#part]?.[this.#index];
  }
}
