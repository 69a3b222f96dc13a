import type { Disk } from '../../../disk/disk.ts';
import { UploadRoom } from '../../../host-tree/upload-room.ts';
import type { Reserve } from '../../../linux/disk-room.ts';
import { errorCode } from '../../../linux/errno.ts';
import type { StoredHead } from '../../../metadata/metadata.ts';
import { Cache } from '../../../store/cache.ts';
import type { StoreParts } from '../../../store/object-reads.ts';
import { ObjectStore } from '../../../store/object-store.ts';
import { OpenFiles } from '../../../store/open-files.ts';
import { FormatError } from '../../../trees/format/format-error.ts';
import type { CodebaseLimits } from '../../quota.ts';
import { isFirst, storeFirst } from '../create-codebase.ts';
import type { Head } from '../head.ts';
import { inUnits } from '../in-units.ts';
import { headOf } from '../stored-head.ts';
import { TreeCodebase } from '../tree-codebase.ts';
import { TreeQuota } from '../tree-quota.ts';
import { GarbageTurns, leastStored } from './garbage-turns.ts';
import { MovingHead } from './moving-head.ts';
import type { OpenCodebase, TreeRead } from './open-codebase.ts';
import { OwnerRoom } from './owner-room.ts';
import type { HeadKeeper, Place } from './tree-stores.ts';

export interface StoresOptions {
  /** `storage.codebase_path`. */
  readonly path: string;
  readonly limits: CodebaseLimits;
  /** Room of the disk that uploads may not use. */
  readonly reserve: Reserve;
  /** Bytes of garbage that a store may have in any case; absent: 64 MiB. */
  readonly leastGarbage?: number;
}

const LEAST_GARBAGE = 64 * 1024 * 1024;

/** Bytes of directory objects in memory, of all stores of a thread. */
const CACHE_BYTES = 32 * 1024 * 1024;
/** Stores that stay open without being used: each has the index of its open pack in memory. */
const MOST_IDLE = 32;

/** The codebases whose stores are open in this thread, the most recently used ones. */
export class OpenCodebases {
  readonly disk: Disk;
  readonly #options: StoresOptions;
  readonly #keeper: HeadKeeper;
  readonly #parts: StoreParts;
  /** By id; the least recently used one comes first. */
  readonly #open = new Map<string, OpenCodebase>();
  readonly #garbage: GarbageTurns;

  constructor(options: StoresOptions, keeper: HeadKeeper, disk: Disk) {
    this.disk = disk;
    this.#options = options;
    this.#keeper = keeper;
    this.#parts = { disk, files: new OpenFiles(disk), cache: new Cache(CACHE_BYTES) };
    this.#garbage = new GarbageTurns(disk, {
      least: options.leastGarbage ?? LEAST_GARBAGE,
      failed: (id, error) => void keeper.garbageKept(id, (error as Error).message).catch(() => undefined),
    });
  }

  /** The caller must call `leave`. Throws a FormatError for a store that is missing, or another one. */
  enter({ id, head, owner }: Place): OpenCodebase {
    const open = this.#open.get(id) ?? this.#opened(id, head);
    this.#open.delete(id);
    this.#open.set(id, open);
    open.users++;
    open.owner.present = owner;
    return open;
  }

  leave(id: string, open: OpenCodebase): void {
    open.users--;
    if (open.isForgotten) return;
    this.#garbage.look(id, open, () => this.leave(id, open));
    if (this.#open.size <= MOST_IDLE) return;
    for (const [idle, each] of this.#open) {
      if (each.users > 0) continue;
      this.#open.delete(idle);
      each.store.close();
      return;
    }
  }

  /** Nobody enters it any more. Resolves after the changes in progress. */
  async forget(id: string): Promise<void> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    open.isForgotten = true;
    await open.codebase.end(async () => {}).catch(() => undefined);
    open.store.close();
  }

  close(): void {
    this.#garbage.close();
    for (const { store } of this.#open.values()) store.close();
    this.#open.clear();
  }

  #opened(id: string, head: StoredHead): OpenCodebase {
    const { limits, reserve } = this.#options;
    const heads = new MovingHead(id, head, this.#keeper);
    const store = this.#store(id, headOf(head));
    const owner = new OwnerRoom();
    const codebase = new TreeCodebase({
      id,
      store,
      disk: this.disk,
      heads,
      quota: new TreeQuota(limits, owner, new UploadRoom(this.#folder(id), reserve)),
      run: inUnits,
    });
    const stored = leastStored({ heads, store });
    return {
      ...{ codebase, store, heads, owner, stored, users: 0, isForgotten: false },
      ...{ collectedAt: undefined, reads: new Set<TreeRead>() },
    };
  }

  #store(id: string, head: Head): ObjectStore {
    const folder = this.#folder(id);
    const store = isFirst(head) ? this.#first(folder, head) : ObjectStore.open(this.#parts, folder);
    if (store.number === head.store) return store;
    store.close();
    throw new FormatError(`the store of codebase ${id} is another one than its record says`);
  }

  /** Of a codebase that nothing was put into yet: what is not there, or was cut off by a crash, is made. */
  #first(folder: string, head: Head): ObjectStore {
    const { disk } = this;
    const names = namesIn(disk, folder);
    if (names === undefined) {
      disk.mkdir(folder);
      disk.syncFolder(this.#options.path);
    }
    const isMade = names?.includes('store.json') === true;
    const store = isMade ? ObjectStore.open(this.#parts, folder) : ObjectStore.create(this.#parts, folder, head.store);
    try {
      storeFirst(store, head);
      return store;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  #folder(id: string): string {
    return `${this.#options.path}/${id}`;
  }
}

/** undefined: there is no such folder. */
function namesIn(disk: Disk, folder: string): string[] | undefined {
  try {
    return disk.readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
