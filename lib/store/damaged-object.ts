import { AbsentObject } from '../trees/directory/source.ts';
import type { Key } from '../trees/format/keys.ts';
import { hexOf } from './packs/record.ts';

/** Where an object should be. */
export interface ObjectPlace {
  /** A pack or a file of contents, by its name. */
  readonly file: string;
  readonly offset: number;
}

/** One object that the store has not, or not as it was. All others are what they were. */
export class DamagedObject extends AbsentObject {
  /** undefined: nothing names it. */
  readonly place: ObjectPlace | undefined;
  override readonly message: string;

  constructor(key: Key, place: ObjectPlace | undefined, cause?: unknown) {
    super(key, 'missing');
    this.place = place;
    const where = place === undefined ? 'is missing' : `is damaged: ${place.file} at byte ${place.offset}`;
    this.message = `the object ${hexOf(key)} ${where}`;
    if (cause !== undefined) this.cause = cause;
  }
}
