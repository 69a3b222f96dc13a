import { rmSync } from 'node:fs';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import type { Listed } from '../divided-list.ts';
import type { BegunSync } from './contents/host-syncs.ts';
import { flattening } from './index/flatten.ts';
import { encodeHeader, type Header, type HeaderRecord, VERSION } from './index/header.ts';
import { InodeTable } from './index/inode-table.ts';
import { Journal } from './index/journal.ts';
import { resolvingMerges } from './index/older-merges.ts';
import { removingOrphans } from './index/orphans.ts';
import type { Op } from './index/records.ts';
import { Replay } from './index/replay.ts';
import { snapshot } from './index/snapshot.ts';
import type { FrozenIndex } from './layers/frozen-layers.ts';
import { hasContents } from './layers/layer-contents.ts';
import { countOf, indexPath, newLayer } from './layers/layer-path.ts';
import type { LayersOf } from './layers/layers-of.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 16;

/** Options of `startingJournal`. */
interface JournalStart {
  /** Whose counters the header has; default: the present one. */
  table?: InodeTable;
  alongside?: () => BegunSync;
  first?: () => void;
}

/**
 * The index of one delta: the table in memory, and on disk the journal with the indexes of frozen layers that it
 * extends. Both are equal between two calls. The owner calls `close`.
 */
export class DeltaIndex {
  table = new InodeTable();
  /** The present state was written by an older server. */
  older = false;
  /** Unlinked inodes of the parent table: open, or not linked yet. */
  orphans: Listed<number> = [];
  readonly journal: Journal;
  readonly #layers: LayersOf;
  #top = '';
  /** The other layers that are needed. */
  #below: readonly string[] = [];
  /** Frozen layer whose index this journal extends, or ''. */
  #parentLayer = '';
  /** The index that `table` extends, and others that it keeps in memory. */
  readonly #indexes: FrozenIndex[] = [];
  /** Number of journals in the chain, including this one. */
  #chainLength = 1;
  #rewrittenSize = 0;
  /** Size of a journal with only its header, in bytes. */
  #headerSize = 0;

  constructor(dir: string, layers: LayersOf) {
    this.journal = new Journal(`${dir}/journal`, layers.syncs);
    this.#layers = layers;
    const { nextId, nextIno } = this.table;
    this.table.raiseCounters({ nextId, nextIno: layers.firstIno ?? nextIno });
  }

  /** The writable layer. */
  get top(): string {
    return this.#top;
  }

  /** The frozen layers that are needed. */
  get below(): readonly string[] {
    return this.#below;
  }

  get parentLayer(): string {
    return this.#parentLayer;
  }

  get chainLength(): number {
    return this.#chainLength;
  }

  /** The index that `table` extends. */
  get parent(): FrozenIndex | undefined {
    return this.#indexes[0];
  }

  /** See `FrozenIndex`; undefined also if the journal has records. */
  get fittedTo(): number | undefined {
    if (this.isChanged) return undefined;
    const path = indexPath(this.#layers.root, this.#parentLayer);
    return this.#indexes.find((index) => index.path === path)?.fittedTo;
  }

  /** Size of the journal when it was last rewritten, in bytes. */
  get rewrittenSize(): number {
    return this.#rewrittenSize;
  }

  /** Whether the journal has records. */
  get isChanged(): boolean {
    return this.journal.size !== this.#headerSize;
  }

  /**
   * Reads the index, in steps; each record is applied when it was read, so that they are never in memory all at once.
   * Returns their number.
   */
  *loading(): Steps<number> {
    const { prefix, root, origin } = this.#layers;
    const replay = new Replay(this, (header) => this.#beginning(header));
    const header = yield* this.journal.loading(replay);
    if (header === undefined) {
      this.#top = newLayer(prefix);
      this.#parentLayer = origin ?? '';
      yield* this.#extending(undefined);
    }
    // Left by a crash before the journal was replaced.
    else rmSync(indexPath(root, this.#top), { force: true });
    yield* resolvingMerges(this.table);
    yield* removingOrphans(this.table, this.orphans);
    this.#wasRewritten(replay.count === 0);
    return replay.count;
  }

  *#beginning(header: Header): Steps<void> {
    this.#top = header.top;
    this.#below = header.below;
    this.#parentLayer = header.parentLayer;
    this.older = header.version !== VERSION;
    yield* this.#extending(header);
    this.table.raiseCounters(header);
  }

  /** Acquires the index of the parent layer, if there is one. */
  *#extending(header: Header | undefined): Steps<void> {
    const { root, frozen } = this.#layers;
    if (this.#parentLayer === '') return;
    const index = yield* frozen.acquiring(root, this.#parentLayer);
    this.#indexes.push(index);
    this.orphans = index.orphans;
    this.table = new InodeTable(index.table);
    this.#chainLength = index.chainLength + 1;
    if (header !== undefined) return;
    this.older = index.older;
    this.#below = index.layers;
  }

  /** Converts the journal of an older server, in steps. On a full disk it keeps its format for now. */
  *converting(): Steps<void> {
    if (this.journal.sealed || this.journal.size === 0) return;
    try {
      const { isChanged } = this;
      const header = this.#header(this.#parentLayer, this.#below);
      yield* this.journal.rewriting(converted(header, this.journal.linesAgain()));
      this.#wasRewritten(!isChanged);
    } catch {
      // Tried again at the next load.
    }
  }

  /** Writes the header of a new journal. A layer with contents needs a journal. */
  begin(): void {
    if (this.journal.size > 0) return;
    this.journal.begin(this.#header(this.#parentLayer, this.#below, this.table, this.#top, 0));
    this.#headerSize = this.journal.size;
  }

  /**
   * Replaces the journal by one that extends a frozen layer, with a new writable layer, in steps. The caller continues
   * the last step with the change in memory. `below`: the frozen layers that it needs. `alongside`: see
   * `writeNewJournal`; `first`: see `Journal.replace`.
   */
  *startingJournal(
    parentLayer: string,
    below: readonly string[],
    { table = this.table, alongside, first }: JournalStart = {},
  ): Steps<void> {
    const top = newLayer(this.#layers.prefix, countOf(this.#layers.prefix, this.#top));
    const header = this.#header(parentLayer, below, table, top);
    this.journal.replace(yield* this.journal.preparing([header], alongside), first);
    this.#parentLayer = parentLayer;
    this.#below = below;
    this.#top = top;
    this.#wasRewritten(true);
  }

  /** Rewrites the index as one journal of its own, in steps. Throws host errors with nothing changed. */
  *rewriting(): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const needed = new Set<string>();
    for (const inode of this.table.found()) {
      if (hasContents(inode)) needed.add(inode.requireData().layer);
      if (counter.count()) yield;
    }
    needed.delete(this.#top);
    const below = [...needed];
    yield* this.journal.rewriting(wholeJournal(this.#header('', below), this.table));
    this.#below = below;
    this.#parentLayer = '';
    this.#chainLength = 1;
    this.#wasRewritten(false);
  }

  /** Counts the journal as rewritten, after an attempt that failed. */
  postponeRewrite(): void {
    this.#wasRewritten(false);
  }

  #wasRewritten(hasOnlyHeader: boolean): void {
    this.#rewrittenSize = this.journal.size;
    if (hasOnlyHeader) this.#headerSize = this.journal.size;
  }

  #header(
    parentLayer: string,
    below: readonly string[],
    { nextId, nextIno } = this.table,
    top = this.#top,
    generation = this.journal.nextGeneration,
  ): HeaderRecord {
    return encodeHeader({ nextId, nextIno, top, below, parentLayer, generation });
  }

  /** Turns the table into the index of a layer that was frozen, and extends it. */
  share(layer: string, state: Pick<FrozenIndex, 'bytes' | 'contents' | 'orphans' | 'fittedTo'>): void {
    const { table } = this;
    table.frozen = true;
    this.orphans = state.orphans;
    const { root, frozen } = this.#layers;
    const index = { ...state, table, layers: this.#below, chainLength: this.#chainLength, older: false };
    this.#indexes.push(frozen.add(root, layer, index));
    this.table = new InodeTable(table);
    this.#chainLength++;
  }

  /** Replaces a chain of tables by one, in steps; right after `share`, when only nodes refer to inodes. */
  *flattening(): Steps<void> {
    const { table } = this;
    table.frozen = true;
    const flat = yield* flattening(table);
    this.table = new InodeTable(flat);
    // Deltas that extend the new layer use the same table; nothing else keeps the others in memory.
    this.#indexes.at(-1)!.table = flat;
    this.#releaseUnused(flat);
  }

  /** Returns a table that extends the index of a frozen layer, for `extend`. */
  tableOn({ table: below }: FrozenIndex): InodeTable {
    const table = new InodeTable(below);
    table.raiseCounters(this.table);
    return table;
  }

  /** Replaces the table by one that extends an index, which was acquired. */
  extend(index: FrozenIndex, table: InodeTable): void {
    this.#chainLength = index.chainLength + 1;
    this.#indexes.push(index);
    this.#releaseUnused(table);
    this.orphans = index.orphans;
    this.table = table;
    this.older = index.older;
  }

  /** Releases the indexes that `table` does not extend. */
  #releaseUnused(table: InodeTable): void {
    const used = new Set<FrozenIndex>();
    for (const index of this.#indexes.splice(0)) {
      if (table.extends(index.table) && !used.has(index)) used.add(index);
      else this.#layers.frozen.release(index);
    }
    this.#indexes.push(...used);
  }

  /** Closes the journal and releases all indexes. */
  close(): void {
    this.journal.close();
    for (const index of this.#indexes.splice(0)) this.#layers.frozen.release(index);
  }
}

function* converted(header: HeaderRecord, lines: Iterable<Op[]>): Generator<HeaderRecord | Op[]> {
  yield header;
  yield* lines;
}

function* wholeJournal(header: HeaderRecord, table: InodeTable): Generator<HeaderRecord | Op[]> {
  yield header;
  yield* snapshot(table);
}
