import type { Key } from '../../trees/format/keys.ts';
import { mergeIndexes } from './merge-indexes.ts';
import type { PackPlace } from './open-pack.ts';
import { holds, ifReadable, type Pack, quietly } from './pack.ts';
import { PackWriter } from './pack-writer.ts';
import { MERGED, OPEN, Packs, SEALED } from './packs.ts';
import type { Packed, RecordKind } from './record.ts';
import { SealedPack } from './sealed-pack.ts';

/** The packs of a store for its one writer. */
export class PackSet extends Packs {
  /** Packs whose objects are not found by writings: they are to go. */
  readonly condemned = new Set<string>();
  readonly #writer: PackWriter;

  constructor(place: PackPlace, lost: (keys: readonly Key[]) => void) {
    super(place);
    this.#writer = new PackWriter(place, { sealed: (name) => this.add(name), lost });
  }

  protected override get open(): Iterable<Pack> {
    return this.#writer.open;
  }

  /** Reads the folder, as its owner: what others left open there is cut and goes on. */
  takeOver(): void {
    const { disk, folder } = this.place;
    const names = disk.readdir(folder);
    for (const name of names) {
      const pack = SEALED.exec(name)?.[1];
      if (pack !== undefined) this.sealed.set(pack, new SealedPack(this.place, pack));
    }
    this.useMerged(names);
    for (const name of names) {
      const pack = OPEN.exec(name)?.[1];
      if (pack !== undefined) this.#writer.reopen(pack);
    }
    // A process that was killed may have made names that are not durable yet.
    disk.syncFolder(folder);
  }

  /** Sealed packs that are searched one by one. */
  get indexes(): number {
    return this.unmerged.length;
  }

  /** Whether the object is there as it is, in a pack that stays. */
  has(key: Key, payload: Uint8Array): boolean {
    for (const { pack, record } of this.places(key)) {
      if (this.condemned.has(pack.name) || !ifReadable(() => holds(pack, record, payload))) continue;
      if (pack instanceof SealedPack) this.last = pack;
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

  /** Ends the pack that is open: it is synced, and sealed if possible. */
  finish(): void {
    this.#writer.finish();
  }

  remove(name: string): void {
    const pack = this.sealed.get(name);
    if (pack === undefined) return;
    pack.remove();
    this.forget(pack);
    this.condemned.delete(name);
  }

  /** All files are gone, and it is of no use any more. */
  drop(): void {
    for (const pack of this.packs) quietly(() => pack.remove());
  }

  *mergeIndexes(tmp: string): Generator<void, void, void> {
    const { disk, folder } = this.place;
    const name = yield* mergeIndexes(this.place, tmp, [...this.sealed.values()]);
    this.useMerged([name]);
    for (const each of disk.readdir(folder))
      if (MERGED.test(each) && each !== name) quietly(() => disk.unlink(`${folder}/${each}`));
  }
}
