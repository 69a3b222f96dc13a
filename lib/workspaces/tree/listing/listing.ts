import type { ByteString } from '../../../byte-string.ts';
import { AbsentObject, type Source } from '../../../trees/directory/source.ts';
import type { Directory, Item } from '../items.ts';
import { MAX_GENERATIONS } from '../limits.ts';
import { Generation } from './generation.ts';
import { itemsOf } from './items-of.ts';

/** Cookies 0, 1 and 2 are the beginning, "." and "..". */
const FIRST_INDEX = 3;
/** Of a generation; a cookie is one number. */
const INDEXES = 2 ** 32;
/** Beyond it numbers begin anew: cookies are below 2^53. */
const GENERATIONS = 2 ** 20;

export interface Listed {
  readonly name: ByteString;
  readonly item: Item;
  /** Where a reader continues that has had this name. */
  readonly cookie: number;
}

/**
 * The readers of one directory. A cookie is `generation << 32 | index`. Who continues goes on with the first name that is
 * larger than the one at the index: no name is repeated, and none is omitted that was there all the time. That holds for the
 * last generations; a cookie of an older one is taken for a place in the present one.
 */
export class Listing {
  readonly #source: Source;
  readonly #generations = new Map<number, Generation>();
  #next = 0;

  constructor(source: Source) {
    this.#source = source;
  }

  /** The names after a cookie. The directory must not be changed while this runs. */
  *after(directory: Directory, cookie: number): Generator<Listed, void, void> {
    // Before the directory may begin another generation, which may be the end of this one.
    const begins = indexOf(cookie) < 0;
    const known = begins ? undefined : this.#nameOf(cookie);
    const [number, generation] = this.#present(directory);
    const last = known ?? (begins ? undefined : generation.nameAt(indexOf(cookie)));
    if (last === undefined && !begins) return;
    let index = -1;
    for (const [name, item] of itemsOf(this.#source, directory, last)) {
      index = index < 0 && last !== undefined ? generation.indexOf(name) : index + 1;
      if (item !== null) yield { name, item, cookie: number * INDEXES + FIRST_INDEX + index };
    }
  }

  /** undefined: the generation, or an object of it, is not there any more. */
  #nameOf(cookie: number): ByteString | undefined {
    const number = Math.floor(cookie / INDEXES);
    const generation = this.#generations.get(number);
    if (generation === undefined) return undefined;
    this.#use(number, generation);
    try {
      return generation.nameAt(indexOf(cookie));
    } catch (error) {
      if (error instanceof AbsentObject && error.reason === 'missing') return undefined;
      throw error;
    }
  }

  #present(directory: Directory): [number: number, generation: Generation] {
    for (const [number, generation] of this.#generations)
      if (generation.is(directory)) return [number, this.#use(number, generation)];
    const number = this.#next;
    this.#next = (number + 1) % GENERATIONS;
    return [number, this.#use(number, new Generation(this.#source, directory))];
  }

  /** The one that was used last is the last to go. */
  #use(number: number, generation: Generation): Generation {
    this.#generations.delete(number);
    this.#generations.set(number, generation);
    const [oldest] = this.#generations.keys();
    if (this.#generations.size > MAX_GENERATIONS) this.#generations.delete(oldest!);
    return generation;
  }
}

/** Below 0 at the beginning. A program may seek to any number, also to those that are no cookies. */
function indexOf(cookie: number): number {
  return (cookie % INDEXES) - FIRST_INDEX;
}
