import { crc32 } from 'node:zlib';
import type { HostFile } from '../../../host-tree/host-file.ts';
import { ENOENT, Errno } from '../../../linux/errno.ts';
import type { Entry } from '../../../trees/format/entry.ts';
import { type DataFile, fileOf, type Key, KIND, kindOf, type Slot, slotOf } from '../../../trees/format/keys.ts';
import type { DataFiles } from '../../delta/contents/data-files.ts';
import { readFile } from '../../delta/contents/host-io.ts';
import type { FrozenReader } from '../../delta/contents/slot-contents.ts';
import type { FileRef } from '../../delta/contents/stored-file.ts';
import type { TopLayer } from '../../delta/contents/top-layer.ts';
import type { CodebaseReads } from './codebase-reads.ts';
import type { Descriptors } from './descriptors.ts';
import type { ReadDamage } from './read-damage.ts';
import { Recent } from './recent.ts';
import { slotNumber } from './slot-places.ts';

/** Keys of slots whose checksum was found right. */
const VERIFIED = 4096;

export interface ReadsIn {
  /** Of the sandbox's own store. */
  readonly store: bigint;
  readonly top: TopLayer;
  readonly files: DataFiles;
  /** The layer of another sandbox's store; undefined: there is none. */
  readonly layerOf: (store: bigint) => string | undefined;
  /** Reads from the slots of other sandboxes. */
  readonly frozen: FrozenReader;
  readonly descriptors: Descriptors;
  readonly codebase: CodebaseReads;
  readonly damage: ReadDamage;
  /** Whether the contents are the sandbox's alone, and may be changed in their place. */
  readonly mayChange: (key: Key) => boolean;
}

/** Reads contents by their keys, wherever they are. */
export class ContentsReads {
  readonly #in: ReadsIn;
  readonly #verified = new Recent<Key, true>(VERIFIED);

  constructor(where: ReadsIn) {
    this.#in = where;
  }

  read(entry: Entry, offset: number, into: Buffer): number {
    const length = Math.min(into.length, entry.size - offset);
    if (length <= 0) return 0;
    const part = length === into.length ? into : into.subarray(0, length);
    const kind = kindOf(entry.key);
    if (kind === KIND.hash) this.#in.codebase.read(entry, offset, part);
    else if (kind === KIND.slot) this.#readSlot(entry, slotOf(entry.key)!, offset, part);
    else if (kind === KIND.file) this.#readFile(entry, fileOf(entry.key)!, offset, part);
    else throw this.#in.damage.of(entry, 'it has a size, and no contents');
    return length;
  }

  /** `act` gets a descriptor of contents that are larger than `SMALL`. */
  useLarge<T>(entry: Entry, act: (fd: number) => T): T {
    const file = fileOf(entry.key);
    return act(file === undefined ? this.#in.codebase.large(entry) : this.#fd(entry, file));
  }

  hostFile(entry: Entry): HostFile | undefined {
    if (kindOf(entry.key) === KIND.hash) return this.#in.codebase.hostFile(entry);
    const file = fileOf(entry.key);
    const layer = file && this.#layer(file.store);
    return layer === undefined ? undefined : this.#in.files.hostFile({ layer, id: file!.number });
  }

  #readSlot(entry: Entry, slot: Slot, offset: number, into: Buffer): void {
    const { key, size } = entry;
    const isWhole = offset === 0 && into.length === size;
    if (!isWhole && this.#verified.get(key)) {
      this.#fill(entry, slot, offset, into);
      return;
    }
    // A part cannot be verified.
    const all = isWhole ? into : Buffer.allocUnsafe(size);
    this.#fill(entry, slot, 0, all);
    if (crc32(all) !== slot.crc)
      throw this.#in.damage.of(entry, `its contents do not match their checksum (${at(slot)})`);
    this.#verified.set(key, true);
    if (!isWhole) all.copy(into, 0, offset, offset + into.length);
  }

  #fill(entry: Entry, slot: Slot, offset: number, into: Buffer): void {
    const { store, top, frozen } = this.#in;
    const number = slotNumber(slot);
    const layer = this.#layer(slot.store);
    const done =
      slot.store === store
        ? top.slabs.read(number, offset, into)
        : layer === undefined
          ? 0
          : frozen.read(top.root, layer, number, offset, into);
    if (done !== into.length) throw this.#in.damage.of(entry, `a part of its contents is missing (${at(slot)})`);
  }

  #readFile(entry: Entry, file: DataFile, offset: number, into: Buffer): void {
    const done = readFile(this.#fd(entry, file), offset, into);
    if (done === into.length) return;
    // A loss of power may leave a file shorter that is written in its place; the rest of it was never synced.
    if (this.#in.mayChange(entry.key)) into.fill(0, done);
    else throw this.#in.damage.of(entry, `a part of its contents is missing (data file ${file.number})`);
  }

  #fd(entry: Entry, { store, number }: DataFile): number {
    const { files, descriptors } = this.#in;
    const layer = this.#layer(store);
    const missing = `its contents are missing (data file ${number})`;
    if (layer === undefined) throw this.#in.damage.of(entry, missing);
    const ref = { layer, id: number };
    try {
      return descriptors.of(nameOf(ref), () => files.open(ref, false, false));
    } catch (error) {
      throw error instanceof Errno && error.errno === ENOENT.errno ? this.#in.damage.of(entry, missing) : error;
    }
  }

  #layer(store: bigint): string | undefined {
    return store === this.#in.store ? this.#in.top.layer : this.#in.layerOf(store);
  }
}

/** Of the descriptor of a data file for reading. */
export function nameOf({ layer, id }: FileRef): string {
  return `${layer}/${id}`;
}

function at({ class: size, slot }: Slot): string {
  return `slot ${slot} of class ${size}`;
}
