import type { Key } from '../../trees/format/keys.ts';
import { DamagedObject } from '../damaged-object.ts';
import { keyOfBytes } from '../digest.ts';
import { MergedIndex, mergedPath } from './merged-index.ts';
import type { PackPlace } from './open-pack.ts';
import { ifReadable, type Pack } from './pack.ts';
import { isRecordOf, type Packed, RECORD_HEADER } from './record.ts';
import { SealedPack } from './sealed-pack.ts';

export interface Found {
  readonly pack: Pack;
  readonly record: Packed;
}

export const OPEN = /^([0-9a-f]{32})\.open$/;
export const SEALED = /^([0-9a-f]{32})\.pack$/;
export const MERGED = /^[0-9a-f]{32}\.index$/;

/** All packs of a store, as one: what is read of them. */
export abstract class Packs {
  protected readonly place: PackPlace;
  protected readonly sealed = new Map<string, SealedPack>();
  /** Those with indexes of their own. */
  protected unmerged: SealedPack[] = [];
  /** The sealed pack that had the last object: the next one is often beside it. */
  protected last: SealedPack | undefined;
  #merged: MergedIndex | undefined;

  constructor(place: PackPlace) {
    this.place = place;
  }

  protected abstract get open(): Iterable<Pack>;

  /** A pack that was sealed by another writer. */
  add(name: string): void {
    const pack = new SealedPack(this.place, name);
    this.sealed.set(name, pack);
    this.unmerged.push(pack);
  }

  get packs(): Pack[] {
    return [...this.sealed.values(), ...this.open];
  }

  pack(name: string): Pack | undefined {
    return this.sealed.get(name) ?? this.packs.find((pack) => pack.name === name);
  }

  /** The first that has the object, by the indexes alone. */
  find(key: Key): Found | undefined {
    for (const found of this.places(key)) return found;
    return undefined;
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
  where(key: Key): { fd: number; offset: number; length: number } {
    return this.#locate(key, ({ pack, record }) => {
      const { offset, length } = record;
      const fd = pack.fd(record);
      return isRecordOf(pack.read({ ...record, length: 0 }), pack.seed, key, length)
        ? { fd, offset, length }
        : undefined;
    });
  }

  close(): void {
    for (const pack of this.packs) pack.close();
  }

  /** One of these files, or none that is not among them. */
  protected useMerged(names: readonly string[]): void {
    const { files } = this.place;
    const former = this.#merged;
    if (former !== undefined && !names.includes(former.name)) {
      files.forget(mergedPath(this.place, former.name));
      this.#merged = undefined;
    }
    for (const name of names.filter((each) => MERGED.test(each))) this.#merged ??= MergedIndex.open(this.place, name);
    const merged = new Set(this.#merged?.packs);
    this.unmerged = [...this.sealed.values()].filter((pack) => !merged.has(pack.name));
  }

  protected forget(pack: SealedPack): void {
    this.sealed.delete(pack.name);
    this.unmerged = this.unmerged.filter((other) => other !== pack);
    if (this.last === pack) this.last = undefined;
  }

  #locate<T>(key: Key, fits: (found: Found) => T | undefined): T {
    let damaged: Found | undefined;
    for (const places of this.rounds(key)) {
      for (const found of places) {
        const value = ifReadable(() => fits(found));
        if (value === undefined) {
          damaged ??= found;
          continue;
        }
        if (found.pack instanceof SealedPack) this.last = found.pack;
        return value;
      }
    }
    throw new DamagedObject(key, damaged && { file: `pack ${damaged.pack.name}`, offset: damaged.record.offset });
  }

  /** Where to look for an object, until it is found. */
  protected *rounds(key: Key): Generator<Iterable<Found>, void, void> {
    yield this.places(key);
    yield this.#placesAnew(key);
  }

  protected *places(key: Key): Generator<Found, void, void> {
    for (const pack of this.open) yield* placeIn(pack, key);
    const last = this.last;
    if (last !== undefined) yield* placeIn(last, key);
    for (const row of ifReadable(() => this.#merged?.find(key)) ?? []) {
      const pack = this.sealed.get(row.pack);
      // The kind is not in it, and of no use to readers.
      const record = pack === last ? undefined : ifReadable(() => pack?.inside({ ...row, key, kind: 1 }));
      if (pack !== undefined && record !== undefined) yield { pack, record };
    }
    for (const pack of this.unmerged) if (pack !== last) yield* placeIn(pack, key);
  }

  /** Every pack, by its own index, which is whole or made anew. */
  *#placesAnew(key: Key): Generator<Found, void, void> {
    for (const pack of this.sealed.values()) {
      pack.verify();
      yield* placeIn(pack, key);
    }
  }
}

/** A pack that cannot be read concerns the objects in it only. */
function* placeIn(pack: Pack, key: Key): Generator<Found, void, void> {
  const record = ifReadable(() => pack.find(key));
  if (record !== undefined) yield { pack, record };
}
