import type { Key } from '../../trees/format/keys.ts';
import { DamagedObject } from '../damaged-object.ts';
import { keyOfBytes } from '../digest.ts';
import { mergeIndexes } from './merge-indexes.ts';
import { MergedIndex } from './merged-index.ts';
import type { PackPlace } from './open-pack.ts';
import { holds, ifReadable, type Pack, quietly } from './pack.ts';
import { PackWriter } from './pack-writer.ts';
import { isRecordOf, type Packed, RECORD_HEADER, type RecordKind } from './record.ts';
import { SealedPack } from './sealed-pack.ts';

export interface Found {
  readonly pack: Pack;
  readonly record: Packed;
}

const OPEN = /^([0-9a-f]{32})\.open$/;
const SEALED = /^([0-9a-f]{32})\.pack$/;

/** All packs of a store, as one. */
export class PackSet {
  /** Packs whose objects are not found by writings: they are to go. */
  readonly condemned = new Set<string>();
  readonly #place: PackPlace;
  readonly #writer: PackWriter;
  readonly #sealed = new Map<string, SealedPack>();
  #merged: MergedIndex | undefined;
  /** Those with indexes of their own. */
  #unmerged: SealedPack[] = [];
  /** The sealed pack that had the last object: the next one is often beside it. */
  #last: SealedPack | undefined;

  constructor(place: PackPlace, lost: (keys: readonly Key[]) => void) {
    this.#place = place;
    this.#writer = new PackWriter(place, { sealed: (name) => this.add(name), lost });
  }

  /** Reads the folder, as its owner: what others left open there is cut and goes on. */
  open(): void {
    const { disk, folder } = this.#place;
    const names = disk.readdir(folder);
    for (const name of names) {
      const pack = SEALED.exec(name)?.[1];
      if (pack !== undefined) this.#sealed.set(pack, new SealedPack(this.#place, pack));
    }
    this.#useMerged();
    for (const name of names) {
      const pack = OPEN.exec(name)?.[1];
      if (pack !== undefined) this.#writer.reopen(pack);
    }
    // A process that was killed may have made names that are not durable yet.
    disk.syncFolder(folder);
  }

  /** A pack that was sealed by another writer. */
  add(name: string): void {
    const pack = new SealedPack(this.#place, name);
    this.#sealed.set(name, pack);
    this.#unmerged.push(pack);
  }

  get packs(): Pack[] {
    return [...this.#sealed.values(), ...this.#writer.open];
  }

  /** Sealed packs that are searched one by one. */
  get indexes(): number {
    return this.#unmerged.length;
  }

  pack(name: string): Pack | undefined {
    return this.#sealed.get(name) ?? this.packs.find((pack) => pack.name === name);
  }

  /** The first that has the object, by the indexes alone. */
  find(key: Key): Found | undefined {
    for (const found of this.#places(key)) return found;
    return undefined;
  }

  /** Whether the object is there as it is, in a pack that stays. */
  has(key: Key, payload: Uint8Array): boolean {
    for (const { pack, record } of this.#places(key)) {
      if (this.condemned.has(pack.name) || !ifReadable(() => holds(pack, record, payload))) continue;
      if (pack instanceof SealedPack) this.#last = pack;
      return true;
    }
    return false;
  }

  append(kind: RecordKind, key: Key, payload: Uint8Array): Packed {
    return this.#writer.append(kind, key, payload);
  }

  sync(): void {
    this.#writer.sync();
  }

  /** The whole payload of an object, with the right digest. Throws a DamagedObject. */
  payload(key: Key): Buffer {
    return this.#locate(key, ({ pack, record }) => {
      const bytes = pack.read(record);
      const payload = bytes.subarray(RECORD_HEADER);
      return isRecordOf(bytes, pack.seed, key, payload.length) && keyOfBytes(payload) === key ? payload : undefined;
    });
  }

  /** Where an object is; the payload is not read. Throws a DamagedObject. */
  place(key: Key): { fd: number; offset: number; length: number } {
    return this.#locate(key, ({ pack, record }) => {
      const { offset, length } = record;
      const fd = pack.fd(record);
      return isRecordOf(pack.read({ ...record, length: 0 }), pack.seed, key, length)
        ? { fd, offset, length }
        : undefined;
    });
  }

  /** Ends the pack that is open: it is synced, and sealed if possible. */
  finish(): void {
    this.#writer.finish();
  }

  remove(name: string): void {
    const pack = this.#sealed.get(name);
    if (pack === undefined) return;
    pack.remove();
    this.#sealed.delete(name);
    this.#unmerged = this.#unmerged.filter((other) => other !== pack);
    this.condemned.delete(name);
    if (this.#last === pack) this.#last = undefined;
  }

  /** All files are gone, and it is of no use any more. */
  drop(): void {
    for (const pack of this.packs) quietly(() => pack.remove());
  }

  *mergeIndexes(tmp: string): Generator<void, void, void> {
    yield* mergeIndexes(this.#place, tmp, [...this.#sealed.values()]);
    this.#useMerged();
  }

  close(): void {
    for (const pack of this.packs) pack.close();
  }

  #useMerged(): void {
    this.#merged = MergedIndex.open(this.#place);
    const merged = new Set(this.#merged?.packs);
    this.#unmerged = [...this.#sealed.values()].filter((pack) => !merged.has(pack.name));
  }

  *#places(key: Key): Generator<Found, void, void> {
    for (const pack of this.#writer.open) yield* placeIn(pack, key);
    const last = this.#last;
    if (last !== undefined) yield* placeIn(last, key);
    for (const row of ifReadable(() => this.#merged?.find(key)) ?? []) {
      const pack = this.#sealed.get(row.pack);
      // The kind is not in it, and of no use to readers.
      const record = pack === last ? undefined : pack?.inside({ ...row, key, kind: 1 });
      if (pack !== undefined && record !== undefined) yield { pack, record };
    }
    for (const pack of this.#unmerged) if (pack !== last) yield* placeIn(pack, key);
  }

  /** Every pack, by its own index, which is whole or made anew. */
  *#placesAnew(key: Key): Generator<Found, void, void> {
    for (const pack of this.#sealed.values()) {
      pack.verify();
      yield* placeIn(pack, key);
    }
  }

  #locate<T>(key: Key, fits: (found: Found) => T | undefined): T {
    let damaged: Found | undefined;
    for (const places of [this.#places(key), this.#placesAnew(key)]) {
      for (const found of places) {
        const value = ifReadable(() => fits(found));
        if (value === undefined) {
          damaged ??= found;
          continue;
        }
        if (found.pack instanceof SealedPack) this.#last = found.pack;
        return value;
      }
    }
    throw new DamagedObject(key, damaged && { file: `pack ${damaged.pack.name}`, offset: damaged.record.offset });
  }
}

/** A pack that cannot be read concerns the objects in it only. */
function* placeIn(pack: Pack, key: Key): Generator<Found, void, void> {
  const record = ifReadable(() => pack.find(key));
  if (record !== undefined) yield { pack, record };
}
