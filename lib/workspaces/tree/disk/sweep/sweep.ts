import type { Source } from '../../../../trees/directory/source.ts';
import { type Key, NO_KEY } from '../../../../trees/format/keys.ts';
import { Bits } from '../../../delta/contents/bits.ts';
import { Live } from './live.ts';

/** Two trees and the map of slabs that belongs to them: a durable root, a checkpoint, or what a fork was made from. */
export interface KeptTrees {
  readonly mine: Key;
  readonly base: Key;
  readonly slabMaps: Key;
}

/**
 * What a store had when its present root was made. What has come since is no candidate, nor are segments to which another
 * thread appends: no root names these yet.
 */
export interface Candidates {
  readonly segments: ReadonlyMap<number, number>;
  /** Slots in use, by the class of their slab. */
  readonly slots: ReadonlyMap<number, Bits>;
  /** Numbers of data files. */
  readonly files: Iterable<number>;
  /** What records since the root name (`Named.trees`), and contents of files that are open and have no name: these stay. */
  readonly open: Iterable<Key>;
}

export interface Garbage {
  /** Segments without a live object. */
  readonly segments: readonly number[];
  /** Segments with less than half of their bytes live, none for a checkpoint or fork: written anew, they can go. */
  readonly sparse: readonly number[];
  readonly slots: ReadonlyMap<number, readonly number[]>;
  readonly files: readonly number[];
}

/**
 * What of the candidates neither the present root nor a checkpoint or fork names. It may be freed when the present root is
 * durable: an older one may name it. In steps; throws AbsentObject if an object is missing, and nothing may be freed then.
 */
export function* sweep(
  source: Source,
  store: bigint,
  present: KeptTrees,
  kept: readonly KeptTrees[],
  candidates: Candidates,
): Generator<void, Garbage, void> {
  const forOthers = new Live(source, store);
  for (const trees of kept) yield* add(forOthers, trees);
  const live = new Live(source, store);
  for (const trees of [present, ...kept]) yield* add(live, trees);
  for (const key of candidates.open) yield* live.adding(key);
  const segments = [...candidates.segments];
  return {
    segments: segments.filter(([segment]) => !live.segments.has(segment)).map(([segment]) => segment),
    sparse: segments.filter((segment) => isSparse(segment, live, forOthers)).map(([segment]) => segment),
    slots: new Map([...candidates.slots].map(([size, used]) => [size, unnamed(used, live.slots.get(size))])),
    files: [...candidates.files].filter((file) => !live.files.has(file)),
  };
}

function* add(live: Live, { mine, base, slabMaps }: KeptTrees): Generator<void, void, void> {
  yield* live.adding(mine);
  yield* live.adding(base);
  if (slabMaps !== NO_KEY) live.addBytes(slabMaps);
}

function isSparse([segment, size]: readonly [number, number], live: Live, forOthers: Live): boolean {
  const bytes = live.segments.get(segment);
  return bytes !== undefined && bytes * 2 < size && !forOthers.segments.has(segment);
}

function unnamed(used: Bits, live: Bits | undefined): number[] {
  return [...(live ?? new Bits()).missing(used)];
}
