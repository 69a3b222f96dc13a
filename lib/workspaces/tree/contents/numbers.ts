/** As a root keeps them; after a restart those of `GivenNumbers`. */
export interface NextNumbers {
  readonly nextSequence: number;
  readonly nextNumber: number;
}

/** The numbers of new contents of one store: none is given twice, so keys that are equal name equal contents. */
export class Numbers {
  #sequence: number;
  #file: number;

  constructor({ nextSequence, nextNumber }: NextNumbers) {
    this.#sequence = nextSequence;
    this.#file = nextNumber;
  }

  get next(): NextNumbers {
    return { nextSequence: this.#sequence, nextNumber: this.#file };
  }

  /** Of contents in a slot. */
  sequence(): number {
    return this.#sequence++;
  }

  /** Of a data file. */
  file(): number {
    return this.#file++;
  }
}
