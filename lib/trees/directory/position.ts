import type { ByteString } from '../../byte-string.ts';
import type { DirectoryObject } from '../format/directory-object.ts';
import { type Key, NO_KEY } from '../format/keys.ts';
import { loadBelow, type Source } from './source.ts';

interface Frame {
  readonly object: DirectoryObject;
  index: number;
}

/**
 * A place in the order of a directory's names: at a record of an object. At an item, the object below is unopened: it may
 * be skipped as a whole, or opened.
 */
export class Position {
  readonly #source: Source;
  readonly #frames: Frame[] = [];

  constructor(source: Source, directory: Key) {
    this.#source = source;
    if (directory !== NO_KEY) this.#frames.push({ object: source.load(directory), index: 0 });
  }

  get done(): boolean {
    return this.#frames.length === 0;
  }

  /** That of the record here; not when done. */
  get object(): DirectoryObject {
    return this.#top.object;
  }

  get index(): number {
    return this.#top.index;
  }

  get level(): number {
    return this.#top.object.level;
  }

  get name(): ByteString {
    const { object, index } = this.#top;
    return object.nameAt(index);
  }

  /** To the first record of the object below the item here. */
  open(): void {
    const { object, index } = this.#top;
    this.#frames.push({ object: loadBelow(this.#source, object, index), index: 0 });
  }

  /** To the next record that is not below this one. */
  skip(): void {
    for (;;) {
      const frame = this.#frames.at(-1);
      if (frame === undefined || ++frame.index < frame.object.count) return;
      this.#frames.pop();
    }
  }

  /** To the record at which the name is or would be, of the given level or above. */
  seek(name: ByteString, level: number): void {
    this.#frames.length = 1;
    this.#top.index = this.#top.object.floor(name);
    while (this.level > level) {
      this.open();
      this.#top.index = this.#top.object.floor(name);
    }
  }

  get #top(): Frame {
    return this.#frames.at(-1)!;
  }
}
