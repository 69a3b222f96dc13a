import type { ByteString } from '../../byte-string.ts';
import type { DirectoryObject } from '../format/directory-object.ts';
import { type Piece, Range } from '../format/encode-object.ts';
import { MAX_RECORDS, MIN_RECORDS } from '../format/limits.ts';
import type { DirectoryRecord } from '../format/records.ts';
import { nameHash, type Seed } from './name-hash.ts';

const ENDS = 127;

/**
 * Divides the records of a level into objects. An object ends after a name that says so by itself, or when it is full: the
 * names and the seed alone decide, so a directory of a codebase has one form however it came about, and a change leaves the
 * other objects as they are. An object that is full moves the ends behind it, so nobody may choose names that never end one.
 */
export class Chunks {
  readonly #seed: Seed;
  readonly #ended: (pieces: readonly Piece[]) => void;
  #pieces: Piece[] = [];
  #count = 0;

  /** `ended` gets the records of each object. */
  constructor(seed: Seed, ended: (pieces: readonly Piece[]) => void) {
    this.#seed = seed;
    this.#ended = ended;
  }

  /** Whether the last object has ended. */
  get between(): boolean {
    return this.#count === 0;
  }

  add(piece: Piece): void {
    if (piece instanceof Range) this.#addRange(piece.object, piece.from, piece.to);
    else this.#addRecord(piece);
  }

  /** The last object of the level ends as it is. */
  end(): void {
    if (this.#count === 0) return;
    this.#ended(this.#pieces);
    this.#pieces = [];
    this.#count = 0;
  }

  #addRecord(record: DirectoryRecord): void {
    this.#pieces.push(record);
    this.#count++;
    if (this.#endsAfter(record.name)) this.end();
  }

  #addRange(object: DirectoryObject, from: number, to: number): void {
    let start = from;
    for (let index = from; index < to; index++) {
      this.#count++;
      if (this.#count < MIN_RECORDS || !this.#endsAfter(object.nameAt(index))) continue;
      this.#pieces.push(new Range(object, start, index + 1));
      this.end();
      start = index + 1;
    }
    if (start < to) this.#pieces.push(new Range(object, start, to));
  }

  #endsAfter(name: ByteString): boolean {
    return this.#count === MAX_RECORDS || (this.#count >= MIN_RECORDS && (nameHash(this.#seed, name) & ENDS) === 0);
  }
}
