import { type Key, KIND, kindOf } from '../../trees/format/keys.ts';
import { readU32 } from './counters.ts';

/** Where a key of a sandbox's store has its store, and the birth of contents. */
const STORE_AT = 1;
const STORE_END = 9;
const BIRTH_AT: Readonly<Record<number, number>> = { [KIND.slot]: 21, [KIND.file]: 15 };

/** As a root keeps them. */
export interface NextEpochs {
  readonly epoch: number;
  readonly sharedEpoch: number;
}

/**
 * When contents were made, and until when others may have them. An epoch ends with a freeze. What was born in one that a
 * checkpoint, a fork or a commit has is theirs, too; what was born later is the sandbox's alone.
 */
export class Epochs {
  readonly #store: string;
  readonly #pins = new Set<{ readonly epoch: number }>();
  #epoch: number;
  #shared: number;

  /** `store`: the 8 bytes of its number, as keys have them. */
  constructor(store: string, epoch: number, shared: number) {
    this.#store = store;
    this.#epoch = epoch;
    this.#shared = shared;
  }

  /** The birth of new contents. */
  get epoch(): number {
    return this.#epoch;
  }

  /** The last one whose contents others have. */
  get shared(): number {
    return this.#shared;
  }

  /** What both are after a freeze, for the root that it writes; `shared`: others will have what it froze. */
  after(shared: boolean): NextEpochs {
    return { epoch: this.#epoch + 1, sharedEpoch: shared ? this.#epoch : this.#shared };
  }

  /** At a freeze. */
  next(shared: boolean): void {
    ({ epoch: this.#epoch, sharedEpoch: this.#shared } = this.after(shared));
  }

  /** Keeps all contents of before now as they are, for one who reads a frozen tree. Answers with the end of that. */
  pin(): () => void {
    const pin = { epoch: this.#epoch - 1 };
    this.#pins.add(pin);
    return () => this.#pins.delete(pin);
  }

  /** Whether the contents are the sandbox's alone: they may be changed in place, and freed at once. */
  mayChange(key: Key): boolean {
    const birthAt = BIRTH_AT[kindOf(key)];
    if (birthAt === undefined || key.slice(STORE_AT, STORE_END) !== this.#store) return false;
    const birth = readU32(key, birthAt);
    if (birth <= this.#shared) return false;
    for (const { epoch } of this.#pins) if (birth <= epoch) return false;
    return true;
  }
}
