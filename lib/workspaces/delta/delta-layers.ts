import { mkdirSync } from 'node:fs';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { Compaction } from './compaction.ts';
import type { ContentStore } from './contents/content-store.ts';
import type { DeltaIndex } from './delta-index.ts';
import type { DeltaSyncs } from './delta-syncs.ts';
import type { Inode } from './index/inode.ts';
import { findingOrphans, removingOrphans } from './index/orphans.ts';
import { copyContents, countingContents, hasContents } from './layers/layer-contents.ts';
import { indexPath, layerPath } from './layers/layer-path.ts';
import { readSummary, writeSummary } from './layers/layer-summary.ts';
import type { LayersOf } from './layers/layers-of.ts';
import { liveContents } from './layers/live-contents.ts';
import type { Retained } from './layers/retained.ts';
import type { Usage } from './usage.ts';
import type { WrittenFiles } from './written-files.ts';

/** Journals in a chain before the index is rewritten as one journal. */
const MAX_CHAIN = 32;
/** Approximate size of an inode in a rewritten index, in bytes. */
const INDEX_BYTES = 256;
/** Garbage in bytes below which an index is not rewritten. */
const WASTE_BYTES = 64 << 10;
/** Garbage in bytes from which on the rest of a layer is worth moving. */
const WORTHWHILE = 4 << 20;
/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;
/** Largest difference between disk usage and size of a file, in bytes. */
const BLOCK = 4096;

/** The parts of a delta that its layers need. */
export interface LayeredDelta {
  readonly index: DeltaIndex;
  readonly contents: ContentStore;
  readonly retained: Retained;
  readonly usage: Usage;
  readonly written: WrittenFiles;
  readonly compaction: Compaction;
  readonly syncs: DeltaSyncs;
}

/** Freezing, rollback, and compaction of the layers of one delta. */
export class DeltaLayers {
  readonly #layers: LayersOf;
  readonly #delta: LayeredDelta;
  readonly #index: DeltaIndex;
  readonly #contents: ContentStore;
  readonly #retained: Retained;
  /** `compacting` has moved some contents already. */
  #isCompacting = false;

  constructor(layers: LayersOf, delta: LayeredDelta) {
    this.#layers = layers;
    this.#delta = delta;
    this.#index = delta.index;
    this.#contents = delta.contents;
    this.#retained = delta.retained;
  }

  /**
   * Freezes the present state as a layer and returns its name; durable on return as far as the index goes. The commit
   * point is the replacement of the journal by one that extends the layer, which happens in the same step as the change
   * of the table in memory. An unchanged delta returns the previous layer. The caller prevents other use of the delta
   * between the steps. `fittedTo`: see `FrozenIndex`.
   */
  *freezing(fittedTo?: number): Steps<string> {
    yield* this.#delta.written.recording();
    this.#index.begin();
    if (this.#index.parentLayer !== '' && !this.#index.isChanged) {
      yield* this.confirming();
      return this.#index.parentLayer;
    }
    if (this.#index.chainLength >= MAX_CHAIN) yield* this.#delta.compaction.rewriting();
    else if (this.#isWasteful) yield* this.#delta.compaction.trying();
    const { root } = this.#layers;
    const frozen = this.#index.top;
    const contents = (yield* countingContents(this.#index.table.own())).get(frozen);
    const orphans = yield* findingOrphans(this.#index.table, this.#index.orphans);
    mkdirSync(layerPath(root, frozen), { recursive: true, mode: 0o700 });
    let index = 0;
    yield* this.#index.startingJournal(frozen, [...this.#index.below, frozen], {
      alongside: () => this.#delta.syncs.beginJournalSync(),
      first: () => {
        this.#index.journal.linkTo(indexPath(root, frozen));
        index = this.#index.journal.size;
      },
    });
    this.#isCompacting = false;
    this.#retained.frozen(frozen, contents);
    this.#contents.freeze(this.#index.top);
    const { usage } = this.#delta;
    const contentsOf = copyContents(this.#retained.live);
    this.#index.share(frozen, { bytes: usage.bytes, contents: contentsOf, orphans, fittedTo });
    usage.rebind((id) => this.#index.table.require(id));
    writeSummary(root, frozen, { index, layers: this.#index.below, contents: this.#retained.live });
    if (this.#index.table.depth > MAX_CHAIN) {
      yield* this.#index.flattening();
      usage.rebind((id) => this.#index.table.require(id));
    }
    yield* this.confirming();
    return frozen;
  }

  /**
   * Whether the index is much longer than a rewritten one, or needs layers without contents of the present state, all
   * of which would be kept as long as the new layer.
   */
  get #isWasteful(): boolean {
    const { root } = this.#layers;
    const enough = WASTE_BYTES + this.#index.table.size * INDEX_BYTES;
    let unused = 0;
    for (const layer of this.#index.below) {
      if (this.#retained.live.has(layer)) continue;
      const summary = readSummary(root, layer);
      unused += (summary?.index ?? 0) + (summary?.contents.get(layer)?.bytes ?? 0);
    }
    return unused > enough || this.#index.journal.size > enough * 2;
  }

  /** Size of the index that a freeze would leave, in bytes. */
  get indexToFreeze(): number {
    return this.#index.isChanged ? this.#index.journal.size : 0;
  }

  /**
   * Returns the garbage in frozen layers in bytes (contents used neither by the present state nor by a checkpoint that
   * counts for the quota), if it is more than `limit` and worth removing; `checkpoint`: for its state instead of the
   * present one.
   */
  *findingRemainsAbove(limit: number, checkpoint: string): Steps<number | undefined> {
    const { bytes, layers, live } = this.#retained.garbage(checkpoint);
    if (bytes <= Math.max(limit, WORTHWHILE)) return undefined;
    const disk = yield* this.#diskSize(layers);
    // `compacting` leaves less than this alone.
    const used = live.bytes + live.files * BLOCK;
    return disk - used <= Math.max(limit, WORTHWHILE, used) ? undefined : bytes;
  }

  *#diskSize(layers: Iterable<string>): Steps<number> {
    let bytes = 0;
    for (const layer of layers) bytes += yield* this.#contents.diskSize(layer);
    return bytes;
  }

  /**
   * Resets the delta to a frozen layer; durable after `confirming`. Invalidates every inode from before: open files lose
   * their contents. The caller removes unneeded layers, and prevents other use of the delta between the steps.
   */
  *rollingBack(layer: string): Steps<void> {
    const { root, frozen } = this.#layers;
    const index = yield* frozen.acquiring(root, layer);
    const table = this.#index.tableOn(index);
    try {
      yield* this.#index.startingJournal(layer, index.layers, { table });
    } catch (error) {
      frozen.release(index);
      throw error;
    }
    this.#isCompacting = false;
    this.#contents.reset(this.#index.top);
    this.#index.extend(index, table);
    this.#delta.written.clear();
    yield* removingOrphans(table, index.orphans);
    this.#delta.usage.reset(yield* table.countingBytes(index.bytes));
    this.#retained.reset(yield* liveContents(table, index, this.#index.top));
  }

  /** Makes a rollback durable, in steps. Throws if that fails. */
  confirming(): Steps<void> {
    return this.#index.journal.confirming();
  }

  /**
   * Moves what the delta needs of these layers, which no other delta and no checkpoint may need, to its own layer, so
   * that they can be removed with their garbage. At most `limit` contents are moved per call: 'more': call again;
   * 'done': the journal durably needs them no more; 'kept': it would free too little. `moved` receives each inode whose
   * data file changed. The caller prevents other use of the delta between the steps.
   */
  *compacting(
    layers: readonly string[],
    limit: number,
    moved: (inode: Inode) => void,
  ): Steps<'more' | 'done' | 'kept'> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const from = new Set(layers.filter((layer) => this.#index.below.includes(layer)));
    if (from.size === 0) return 'kept';
    const shared: number[] = [];
    let live = 0;
    for (const inode of this.#index.table.found()) {
      if (counter.count()) yield;
      if (inode.data === undefined || !from.has(inode.data.layer)) continue;
      shared.push(inode.id);
      live += hasContents(inode) ? inode.stored + BLOCK : 0;
    }
    if (!this.#isCompacting && from.size < MAX_CHAIN) {
      if ((yield* this.#diskSize(from)) - live < Math.max(WORTHWHILE, live)) return 'kept';
    }
    this.#isCompacting = true;
    for (const id of shared.slice(0, limit)) {
      const inode = this.#index.table.require(id);
      this.#contents.moveToTop(inode);
      moved(inode);
      if (counter.count()) yield;
    }
    if (shared.length > limit) return 'more';
    this.#isCompacting = false;
    yield* this.#delta.syncs.syncingContents();
    yield* this.#delta.compaction.rewriting();
    yield* this.confirming();
    return 'done';
  }
}
