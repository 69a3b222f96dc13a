import { openSync } from 'node:fs';
import { complete, type Steps } from '../../../fuse/connection/steps.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { errorCode, hostErrno } from '../../../linux/errno.ts';
import type { Listed } from '../../divided-list.ts';
import { findFrozen } from '../contents/find-files.ts';
import { readFile } from '../contents/host-io.ts';
import { placeOf } from '../contents/slabs.ts';
import { Damage } from '../damage.ts';
import { type Header, VERSION } from '../index/header.ts';
import { InodeTable } from '../index/inode-table.ts';
import { resolvingMerges } from '../index/older-merges.ts';
import { findingOrphans } from '../index/orphans.ts';
import { type JournalReceiver, readHeader, readJournal } from '../index/read-journal.ts';
import { Replay } from '../index/replay.ts';
import { countingContents, type LayerContents } from './layer-contents.ts';
import { indexPath, layerPath } from './layer-path.ts';

/** Slabs of frozen layers kept open for all deltas together. */
const MAX_OPEN = 64;

/** The index of a frozen layer: the state of a delta when it was frozen. Immutable. */
export interface FrozenIndex {
  table: InodeTable;
  /** Stored bytes of all contents. */
  bytes: number;
  /** All layers that it needs, including its own. */
  layers: readonly string[];
  contents: LayerContents;
  /** Number of journals in its chain. */
  chainLength: number;
  /** Orphans: inodes that were unlinked but open. */
  orphans: Listed<number>;
  /** Frozen by an older server. */
  older: boolean;
  /** The state of the codebase that its workspace fitted (`OpenWorkspace`) when it was frozen; undefined: unknown. */
  fittedTo?: number | undefined;
  /** Path of the index, which identifies it. */
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

/** The frozen layers of all deltas of a mount. Each index is read once and kept in memory while it is used. */
export class FrozenLayers {
  readonly #indexes = new Map<string, Used>();
  /** Memory of all indexes in bytes; undefined: they changed since it was computed. */
  #memory: number | undefined;
  readonly #loading = new Map<string, Loading>();
  /** Descriptors by path, least recently used first. */
  readonly #open = new Map<string, number>();

  /**
   * Returns the index of a frozen layer; the caller releases it with `release`. (Weak references do not work: the event
   * loop of this thread never turns.) Throws Damage if the layer, or a layer of its chain, is missing or damaged.
   */
  acquire(root: string, layer: string): FrozenIndex {
    return complete(this.acquiring(root, layer));
  }

  /** As `acquire`, in steps. */
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

  /** Several forks may wait for the same index: each of them continues the one read when it has its turn. */
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
        // The caller of this step acquires it before any other runs.
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

  /** As `acquire`, for a layer that was frozen just now, without reading it. */
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

  /** Memory of all indexes in bytes, approximately, including the tables that they extend. */
  get memory(): number {
    this.#memory ??= memoryOf(this.#indexes.values());
    return this.#memory;
  }

  /** Gives up one use of an index. */
  release({ path }: FrozenIndex): void {
    const known = this.#indexes.get(path)!;
    if (--known.users > 0) return;
    this.#indexes.delete(path);
    this.#memory = undefined;
  }

  /** Closes all descriptors, so that removed files are freed. */
  closeFiles(): void {
    for (const fd of this.#open.values()) closeQuietly(fd);
    this.#open.clear();
  }

  /** Reads from a slot. Returns the number of bytes read, 0 if the slab is missing. */
  read(root: string, layer: string, slot: number, offset: number, into: Buffer): number {
    const { path, start } = placeOf(layerPath(root, layer), slot);
    const fd = this.#fd(path);
    return fd === undefined ? 0 : readFile(fd, start + offset, into);
  }

  *#load(root: string, layer: string): Steps<FrozenIndex> {
    const table = new InodeTable();
    const chain = yield* chainOf(root, layer);
    const { header } = chain.at(-1)!;
    // Each record is applied when it was read: they are never in memory all at once.
    for (const each of chain) yield* readIndex(root, each.layer, new Replay({ table }));
    yield* resolvingMerges(table);
    table.raiseCounters(header);
    // Unlinked inodes stay: journals that extend this index may refer to them while they are open.
    const nameless = yield* findingOrphans(table);
    // Older servers froze files that were written before a kill without recording their new size.
    const sizes = chain.every((each) => each.header.version === VERSION);
    yield* findFrozen(root, table.own(), sizes);
    table.frozen = true;
    return {
      table,
      bytes: yield* table.countingBytes(0),
      layers: [...header.below, layer],
      contents: yield* countingContents(table.own()),
      chainLength: chain.length,
      orphans: nameless,
      older: header.version !== VERSION,
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
      if (errorCode(error) === 'ENOENT') return undefined;
      throw hostErrno(error);
    }
  }
}

/** Counts each table once: several can extend the same one. */
function memoryOf(all: Iterable<Used>): number {
  const tables = new Set<InodeTable>();
  for (const { index } of all) for (const table of index.table.chain()) tables.add(table);
  let bytes = 0;
  for (const { ownMemory } of tables) bytes += ownMemory;
  return bytes;
}

/** An index with its header. */
interface IndexOf {
  layer: string;
  header: Header;
}

/**
 * Reads a frozen layer's index, in steps. Throws Damage with the path of the index if it is missing or
 * damaged.
 */
export function* readIndex(root: string, layer: string, receiver: JournalReceiver): Steps<void> {
  const path = indexPath(root, layer);
  const read = yield* damaging(path, layer, readJournal(path, receiver));
  if (read?.header === undefined) throw missing(path, layer);
  if (read.torn) throw damaged(path, layer, 'its last line is cut');
}

/** Returns all journals in the chain of a layer, the first one first. */
function* chainOf(root: string, layer: string): Steps<IndexOf[]> {
  const chain: IndexOf[] = [];
  for (let at = layer; at !== ''; ) {
    const path = indexPath(root, at);
    const header = yield* damaging(path, at, readHeader(path));
    if (header === undefined) throw missing(path, at);
    chain.unshift({ layer: at, header });
    at = header.parentLayer;
  }
  return chain;
}

function* damaging<T>(path: string, layer: string, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    throw error instanceof Damage ? damaged(path, layer, error.message) : error;
  }
}

function damaged(path: string, layer: string, what: string): Damage {
  return new Damage(`the index of the frozen layer ${layer} is damaged: ${what}`, path);
}

function missing(path: string, layer: string): Damage {
  return new Damage(`the frozen layer ${layer} is missing`, path);
}
