import {
  type BigIntStats,
  chmodSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { fromLatin1 } from '../../../byte-string.ts';
import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import type { HostFile } from '../../../host-tree/host-file.ts';
import { closeQuietly } from '../../../linux/close.ts';
import { errorCode, hostErrno } from '../../../linux/errno.ts';
import { holesIn } from '../../../linux/sparse-files.ts';
import type { Time } from '../../../linux/time.ts';
import { timeOf } from '../../../linux/time.ts';
import { layerPath } from '../layers/layer-path.ts';
import type { SyncedFile } from './background-sync.ts';
import { LargeCopies } from './large-copies.ts';
import { LargeFrees } from './large-frees.ts';
import type { FileRef } from './stored-file.ts';

/** Data files in one host directory. */
const SHARD = 1024;
/** Files examined in one step. */
const ITEMS_PER_STEP = 16;

/** What is known of a data file from stat(2). */
export interface DataStat {
  size: number;
  /** Bytes of the size that are not stored. */
  holes: number;
  mtime: Time;
}

/**
 * Contents of large files, each in a host file named by its number: no name chosen by the sandbox reaches the disk. All
 * methods throw host errors as `Errno`.
 */
export class DataFiles {
  readonly #root: string;
  readonly #copies: LargeCopies;
  readonly #frees: LargeFrees;

  constructor(root: string, copies: LargeCopies, frees = new LargeFrees()) {
    this.#root = root;
    this.#copies = copies;
    this.#frees = frees;
  }

  /** Bytes of large files that are being copied into a layer. */
  pendingBytes(layer: string): number {
    return this.#copies.pendingBytes(layerPath(this.#root, layer));
  }

  /** Throws Postponed while the open file is being copied into the layer. */
  awaitCopy(from: number, layer: string): void {
    this.#copies.wait(from, layerPath(this.#root, layer));
  }

  /** Opens a data file for reading and writing; with `create`, an empty one is created. The caller closes it. */
  open(ref: FileRef, create: boolean, writable = true): number {
    const path = this.#path(ref);
    if (!writable) return hosted(() => openSync(path, constants.O_RDONLY));
    if (!create) return hosted(() => openSync(path, constants.O_RDWR));
    return this.#inShard(ref, () => openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600));
  }

  /**
   * Copies the open file `from` to `ref` (as a reflink if the file system supports it) and returns what is known of the
   * copy, or throws Postponed. Until a record names the copy, `sweep` removes it: a crash leaves no partial copy-up.
   */
  copy(from: number, ref: FileRef): DataStat {
    const path = this.#path(ref);
    try {
      this.#inShard(ref, () => this.#copies.copy(from, path, layerPath(this.#root, ref.layer)));
      return hosted(() => {
        chmodSync(path, 0o600);
        return dataStat(lstatSync(path, { bigint: true }));
      });
    } catch (error) {
      this.remove(ref);
      throw error;
    }
  }

  /** Hard-links a file of one layer into another. Throws if the file system does not support it. */
  link(from: FileRef, to: FileRef): void {
    this.remove(to);
    this.#inShard(to, () => linkSync(this.#path(from), this.#path(to)));
  }

  /** Returns the disk usage of a layer in bytes, in steps. */
  *diskSize(layer: string): Steps<number> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    let size = 0;
    for (const name of namesIn(`${this.#root}/${layer}`)) {
      const path = `${this.#root}/${layer}/${name}`;
      const names = isNumber(name) ? namesIn(path).map((each) => `${path}/${each}`) : [path];
      for (const each of names) {
        size += (lstatSync(each, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
        if (counter.count()) yield;
      }
    }
    return size;
  }

  /** undefined: the file does not exist. */
  stat(ref: FileRef): DataStat | undefined {
    const stat = lstatSync(this.#path(ref), { bigint: true, throwIfNoEntry: false });
    return stat && dataStat(stat);
  }

  /** Identifies a data file for other parts of the server. */
  hostFile(ref: FileRef): HostFile {
    return { root: this.#root, path: fromLatin1(this.#path(ref).slice(this.#root.length + 1)) };
  }

  /** Makes a data file durable (fsync(2), or fdatasync(2)). */
  sync(ref: FileRef, datasync: boolean): void {
    const fd = this.open(ref, false);
    try {
      hosted(() => (datasync ? fdatasyncSync(fd) : fsyncSync(fd)));
    } finally {
      closeQuietly(fd);
    }
  }

  /** Returns what makes a data file durable, by its path. */
  synced(ref: FileRef): SyncedFile {
    return { file: this.#path(ref), datasync: false };
  }

  /** Removes a data file. Never throws. */
  remove(ref: FileRef): void {
    try {
      this.#frees.remove(this.#path(ref), layerPath(this.#root, ref.layer));
    } catch {
      // Removed by `sweep` at the next load.
    }
  }

  /** Removes each file of a layer that `keep` rejects, in steps. `keep` receives every file. */
  *sweep(layer: string, keep: (id: number, stat: DataStat) => boolean): Steps<void> {
    const counter = new StepCounter(ITEMS_PER_STEP);
    const dir = `${this.#root}/${layer}`;
    for (const name of namesIn(dir)) {
      if (LargeCopies.isCopy(name) || LargeFrees.isRemoved(name)) this.#remove(`${dir}/${name}`, dir);
    }
    for (const shard of namesIn(dir).filter(isNumber)) {
      for (const name of namesIn(`${dir}/${shard}`)) {
        const path = `${dir}/${shard}/${name}`;
        const stat = lstatSync(path, { bigint: true });
        if (!keep(Number(name), dataStat(stat))) this.#remove(path, dir);
        if (counter.count()) yield;
      }
    }
  }

  /**
   * Removes the files of a layer with these numbers and larger ones, and what was being copied or removed. Only a few are
   * expected.
   */
  removeFrom(layer: string, number: number): void {
    const dir = `${this.#root}/${layer}`;
    for (const name of namesIn(dir)) {
      if (LargeCopies.isCopy(name) || LargeFrees.isRemoved(name)) this.#remove(`${dir}/${name}`, dir);
      if (!isNumber(name) || Number(name) < Math.floor(number / SHARD)) continue;
      for (const id of namesIn(`${dir}/${name}`)) if (Number(id) >= number) this.#remove(`${dir}/${name}/${id}`, dir);
    }
  }

  #remove(path: string, directory: string): void {
    try {
      this.#frees.remove(path, directory);
    } catch {
      rmSync(path, { recursive: true, force: true });
    }
  }

  #path({ layer, id }: FileRef): string {
    return `${this.#root}/${layer}/${Math.floor(id / SHARD)}/${id}`;
  }

  #inShard<T>({ layer, id }: FileRef, make: () => T): T {
    return hosted(() => {
      try {
        return make();
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
        mkdirSync(`${this.#root}/${layer}/${Math.floor(id / SHARD)}`, { recursive: true, mode: 0o700 });
        return make();
      }
    });
  }
}

/** Throws host errors. */
export function statData(fd: number): DataStat {
  return dataStat(hosted(() => fstatSync(fd, { bigint: true })));
}

function dataStat(stat: BigIntStats): DataStat {
  return { size: Number(stat.size), holes: holesIn(stat), mtime: timeOf(stat.mtimeNs) };
}

/** The other entries of a layer's directory are its slabs and index. */
function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function hosted<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw hostErrno(error);
  }
}
