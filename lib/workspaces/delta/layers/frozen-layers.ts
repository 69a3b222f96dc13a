import { openSync } from 'node:fs';
import { Counted, complete, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { hostErrno } from '../../../linux/errno.ts';
import { ContentStore } from '../contents/content-store.ts';
import { readFile } from '../contents/host-io.ts';
import { placeOf } from '../contents/slabs.ts';
import { Damage } from '../damage.ts';
import { InodeTable } from '../index/inode-table.ts';
import { type JournalFile, readJournal } from '../index/journal.ts';
import { type Header, headerOf, type Op, VERSION } from '../index/records.ts';
import { countingContents, type LayerContents } from './layer-contents.ts';
import { indexPath, layerPath } from './layer-path.ts';

/** Slabs of frozen layers kept open, for all deltas together. */
const MAX_OPEN = 64;
/** Operations applied in one step. */
const AT_ONCE = 16;

/** What a delta was when its layer was frozen. Never changes. */
export interface FrozenIndex {
  table: InodeTable;
  /** Apparent size of all contents. */
  bytes: number;
  /** Every layer it needs, its own among them. */
  layers: readonly string[];
  contents: LayerContents;
  /** Journals that were read for it. */
  chainLength: number;
  /** Inodes that were open without a name. */
  orphans: readonly number[];
  /** An older server froze it. */
  older: boolean;
  /** What it is known by. */
  path: string;
}

interface Used {
  index: FrozenIndex;
  users: number;
}

/** An index that is being read. */
interface Loading {
  readonly steps: Steps<FrozenIndex>;
  over: boolean;
  failure: { error: unknown } | undefined;
}

/** The layers that are written to no more, as all deltas of a mount share them: each is read once, and kept while used. */
export class FrozenLayers {
  readonly #indexes = new Map<string, Used>();
  /** undefined: others are kept since it was counted. */
  #memory: number | undefined;
  readonly #loading = new Map<string, Loading>();
  /** Oldest use first. */
  readonly #open = new Map<string, number>();

  /**
   * The caller gives it back by `release`: the thread that this runs in never ends its turn, and would keep weak references.
   * Throws when it, or one it goes on from, is not there or damaged.
   */
  acquire(root: string, layer: string): FrozenIndex {
    return complete(this.acquiring(root, layer));
  }

  /** As `take`, a part at a time. */
  *acquiring(root: string, layer: string): Steps<FrozenIndex> {
    const path = indexPath(root, layer);
    for (let known = this.#indexes.get(path); ; known = this.#indexes.get(path)) {
      if (known !== undefined) {
        known.users++;
        return known.index;
      }
      yield* this.#loadOnce(path, root, layer);
    }
  }

  /** Many forks may wait for the same one: each goes on with the one reading of it when it has its turn. */
  *#loadOnce(path: string, root: string, layer: string): Steps<void> {
    const loading: Loading = this.#loading.get(path) ?? {
      steps: this.#load(root, layer),
      over: false,
      failure: undefined,
    };
    this.#loading.set(path, loading);
    for (; !loading.over; yield) {
      try {
        const { done, value } = loading.steps.next();
        if (!done) continue;
        // Whoever had this step takes it before anybody else is served.
        this.#set(path, { index: value, users: 0 });
      } catch (error) {
        loading.failure = { error };
      }
      loading.over = true;
      this.#loading.delete(path);
      break;
    }
    if (loading.failure !== undefined) throw loading.failure.error;
  }

  /** As `take`, of what was frozen just now, without reading it. */
  add(root: string, layer: string, index: Omit<FrozenIndex, 'path'>): FrozenIndex {
    const path = indexPath(root, layer);
    const added = { ...index, path };
    this.#set(path, { index: added, users: 1 });
    return added;
  }

  #set(path: string, used: Used): void {
    this.#indexes.set(path, used);
    this.#memory = undefined;
  }

  /** Bytes of memory that all of them take, about, with what they go on from. */
  get memory(): number {
    this.#memory ??= memoryOf(this.#indexes.values());
    return this.#memory;
  }

  release({ path }: FrozenIndex): void {
    const known = this.#indexes.get(path)!;
    if (--known.users > 0) return;
    this.#indexes.delete(path);
    this.#memory = undefined;
  }

  /** What was removed on disk is held by nobody. */
  closeFiles(): void {
    for (const fd of this.#open.values()) closeQuietly(fd);
    this.#open.clear();
  }

  /** How much of `into` was filled from a slot: nothing where the slab is missing. */
  read(root: string, layer: string, slot: number, offset: number, into: Buffer): number {
    const { path, start } = placeOf(layerPath(root, layer), slot);
    const fd = this.#fd(path);
    return fd === undefined ? 0 : readFile(fd, start + offset, into);
  }

  *#load(root: string, layer: string): Steps<FrozenIndex> {
    const counted = new Counted(AT_ONCE);
    const table = new InodeTable();
    const segments = yield* segmentsOf(root, layer);
    for (const [, ...lines] of segments) {
      for (const line of lines as Op[][]) {
        for (const op of line) {
          table.apply(op);
          yield* counted.one();
        }
      }
    }
    yield* table.resolvingMerges();
    const [, , nextId, nextIno, , layers] = segments.at(-1)![0] as Header;
    table.nextId = Math.max(table.nextId, nextId);
    table.nextIno = Math.max(table.nextIno, nextIno);
    // Inodes without a name stay: what goes on from here may speak of them, as long as they are open.
    const nameless = (yield* table.findingUnlinked()).map(({ id }) => id);
    // Older servers froze what was written before a kill without recording its size anew.
    const sizes = segments.every(([header]) => headerOf([header])[1] === VERSION);
    yield* ContentStore.findFrozen(root, table.own(), sizes);
    table.frozen = true;
    return {
      table,
      bytes: yield* table.countingBytes(0),
      layers: [...layers, layer],
      contents: yield* countingContents(table.own()),
      chainLength: segments.length,
      orphans: nameless,
      older: headerOf(segments.at(-1)!)[1] !== VERSION,
      path: indexPath(root, layer),
    };
  }

  #fd(path: string): number | undefined {
    const known = this.#open.get(path);
    if (known !== undefined) {
      this.#open.delete(path);
      this.#open.set(path, known);
      return known;
    }
    try {
      const fd = openSync(path, 'r');
      this.#open.set(path, fd);
      for (const [oldest, oldFd] of this.#open) {
        if (this.#open.size <= MAX_OPEN) break;
        this.#open.delete(oldest);
        closeQuietly(oldFd);
      }
      return fd;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw hostErrno(error);
    }
  }
}

/** Each table once: many go on from the same. */
function memoryOf(all: Iterable<Used>): number {
  const tables = new Set<InodeTable>();
  for (const { index } of all) for (const table of index.table.chain()) tables.add(table);
  let bytes = 0;
  for (const { ownMemory } of tables) bytes += ownMemory;
  return bytes;
}

/** The records of the index of one frozen layer. Throws Damage, with the path of the index, when it is missing or damaged. */
export function* readIndex(root: string, layer: string): Steps<unknown[][]> {
  const path = indexPath(root, layer);
  const damaged = (what: string) => new Damage(`the index of the frozen layer ${layer} is damaged: ${what}`, path);
  let read: JournalFile | undefined;
  try {
    read = yield* readJournal(path);
    if (read !== undefined && read.records.length > 0) headerOf(read.records);
  } catch (error) {
    throw error instanceof Damage ? damaged(error.message) : error;
  }
  if (read === undefined || read.records.length === 0) {
    throw new Damage(`the frozen layer ${layer} is missing`, path);
  }
  if (read.torn) throw damaged('its last line is cut');
  return read.records;
}

/** The records of all journals that lead to a layer, the first one first. */
function* segmentsOf(root: string, layer: string): Steps<unknown[][][]> {
  const segments: unknown[][][] = [];
  for (let at = layer; at !== ''; at = headerOf(segments[0]!)[6]) {
    segments.unshift(yield* readIndex(root, at));
  }
  return segments;
}
