import { ServiceError } from '../../errors.ts';
import type { Head } from './head.ts';
import type { Numbers } from './numbers.ts';
import type { TreeParts } from './tree-parts.ts';

/** A time between the changes of a codebase: nobody else moves its head. */
export class Turn {
  readonly numbers: Numbers;
  readonly #parts: TreeParts;

  constructor(parts: TreeParts, numbers: Numbers) {
    this.#parts = parts;
    this.numbers = numbers;
    numbers.passOver(parts.head().nextIno);
  }

  get store(): TreeParts['store'] {
    return this.#parts.store;
  }

  get quota(): TreeParts['quota'] {
    return this.#parts.quota;
  }

  get run(): TreeParts['run'] {
    return this.#parts.run;
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#parts.now();
  }

  get head(): Head {
    return this.#parts.head();
  }

  /** Durable when it resolves. Rejects with the refusal, and then the head is what it was. */
  async advance(to: Head): Promise<void> {
    const moved = await this.#parts.advance(this.head, to);
    if (moved === true) return;
    throw moved === false ? new ServiceError('ABORTED', 'the codebase is changed by others; try again') : moved;
  }

  /** No number that was taken in this turn is given again. */
  async keepNumbers(): Promise<void> {
    const { head, numbers } = this;
    if (numbers.next > head.nextIno) await this.advance({ ...head, nextIno: numbers.next });
  }
}
