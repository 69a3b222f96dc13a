import { fileOf, type Key, slotOf } from '../../../trees/format/keys.ts';
import { type DataRef, NO_SLOT, type StoredFile } from '../../delta/contents/stored-file.ts';
import type { OwnFile } from '../items.ts';
import type { Numbers } from './numbers.ts';
import { slotNumber } from './slot-places.ts';

/** An own file as the store of contents knows it, from its first change after a freeze until the next one. */
export class TreeFile implements StoredFile {
  readonly own: OwnFile;
  hasFile = false;
  expected: number | undefined;
  verified = false;
  shortened = false;
  lost = false;
  unsynced = false;
  listed = false;
  /** The journal says of the data file that it may have been written: its size is the one on the disk. */
  isOpen = false;
  /** That of the descriptor for writing it, while it is open. */
  writableName = '';
  /** The journal has its size and time. */
  isMeasured = true;
  readonly #numbers: Numbers;
  #data: DataRef;
  #id: number | undefined;

  /** `layer`: where its contents are, or will be. `mayHaveBeenLonger`: in their slot, and the disk may still say so. */
  constructor(own: OwnFile, numbers: Numbers, layer: string, mayHaveBeenLonger: boolean) {
    const { key } = own.entry;
    const slot = slotOf(key);
    const file = fileOf(key);
    this.own = own;
    this.#numbers = numbers;
    this.#data = { layer, id: file?.number ?? 0, slot: slot === undefined ? NO_SLOT : slotNumber(slot) };
    this.hasFile = file !== undefined;
    this.expected = slot?.crc;
    this.shortened = slot !== undefined && mayHaveBeenLonger;
  }

  /** Not given before it is asked for. */
  get id(): number {
    this.#id ??= this.#numbers.file();
    return this.#id;
  }

  get key(): Key {
    return this.own.entry.key;
  }

  get size(): number {
    return this.own.entry.size;
  }

  get holes(): number {
    return this.own.entry.holes ?? 0;
  }

  get data(): DataRef {
    return this.#data;
  }

  get layer(): string {
    return this.#data.layer;
  }

  requireData(): DataRef {
    return this.#data;
  }

  /** Its contents are there from now on. */
  moved(to: DataRef, expected: number | undefined): void {
    const isOther = to.slot !== this.#data.slot || to.id !== this.#data.id || to.layer !== this.#data.layer;
    if (isOther) this.verified = this.shortened = this.lost = this.hasFile = this.isOpen = false;
    if (isOther) this.writableName = '';
    this.expected = expected;
    this.#data = to;
    if (to.slot === NO_SLOT && to.id === this.#id) this.#id = undefined;
  }
}
