import { errorCode } from '../../linux/errno.ts';
import type { Key } from '../../trees/format/keys.ts';
import type { PackPlace } from '../packs/open-pack.ts';
import type { Pack } from '../packs/pack.ts';
import { type Found, OPEN, Packs, SEALED } from '../packs/packs.ts';
import { SealedPack } from '../packs/sealed-pack.ts';
import { GrowingPack } from './growing-pack.ts';

/** How often the folder may change under one look-up. */
const ATTEMPTS = 100;

/**
 * The packs of a store beside its writer. What is on the disk is looked at again when an object is not found: so no writer
 * has to tell that a pack grew, was sealed or merged, or that garbage collection copied its objects and removed it.
 */
export class ReadPacks extends Packs {
  readonly #growing = new Map<string, GrowingPack>();
  #names = '';
  /** Counts whatever look-ups may see. */
  #changes = 0;

  constructor(place: PackPlace) {
    super(place);
    this.#list();
  }

  protected override get open(): Iterable<GrowingPack> {
    return this.#growing.values();
  }

  /** Takes what has changed on the disk, and holds no file that is gone. In steps; other calls may come between them. */
  *refresh(): Generator<void, void, void> {
    this.#list();
    for (const pack of this.#growing.values()) {
      const before = pack.bytes;
      try {
        yield* pack.grow();
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
        // It was sealed since it was listed.
        this.#names = '';
        this.#changes++;
      }
      if (pack.bytes !== before) this.#changes++;
    }
  }

  /**
   * An object that is reachable is found: it is looked for until nothing has changed since before the last time, and whatever
   * the writer does with it is a change.
   */
  protected override *rounds(key: Key): Generator<Iterable<Found>, void, void> {
    yield this.places(key);
    let isRestarted = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = this.#changes;
      for (const _ of this.refresh());
      if (before === this.#changes) {
        if (isRestarted || !this.#restart()) break;
        isRestarted = true;
        continue;
      }
      yield this.places(key);
    }
    yield* super.rounds(key);
  }

  /** See `GrowingPack.restart`. */
  #restart(): boolean {
    return [...this.#growing.values()].filter((pack) => pack.restart()).length > 0;
  }

  #list(): void {
    const { disk, files, folder } = this.place;
    const names = disk.readdir(folder);
    const joined = names.join(' ');
    if (joined === this.#names) return;
    this.#names = joined;
    this.#changes++;
    const there = new Set(names);
    for (const pack of this.packs) if (!there.has(`${pack.name}.${pack.sealed ? 'pack' : 'open'}`)) this.#forget(pack);
    for (const each of names) {
      const sealed = SEALED.exec(each)?.[1];
      if (sealed !== undefined && !this.sealed.has(sealed)) this.sealed.set(sealed, new SealedPack(this.place, sealed));
      const open = OPEN.exec(each)?.[1];
      if (open !== undefined && !this.#growing.has(open))
        this.#growing.set(open, new GrowingPack(disk, files, `${folder}/${each}`, open));
    }
    this.useMerged(names);
  }

  #forget(pack: Pack): void {
    pack.close();
    if (pack instanceof SealedPack) this.forget(pack);
    else this.#growing.delete(pack.name);
  }
}
