import { Turns } from './turns.ts';

/** Milliseconds of all loops together in one turn of the event loop. */
const WORK_MS = 4;

/**
 * Lets other events be handled within the loops of this thread, which share the time of a turn and go on one after the other.
 * The threats: a stream whose next piece is always ready and always accepted (thousands of small files in an archive) never
 * returns to the event loop, nor do many short loops of one call, each of which begins where the last one ended.
 */
export class Breaks {
  readonly #turns: Pick<Turns, 'next'>;
  readonly #now: () => number;
  /** When the first loop of this turn was here; undefined: none was. */
  #began: number | undefined;
  #ending = false;

  constructor(turns: Pick<Turns, 'next'> = new Turns(), now: () => number = () => performance.now()) {
    this.#turns = turns;
    this.#now = now;
  }

  /** Call after each step. Returns a promise to wait for if loops have run for WORK_MS in this turn. */
  due(): Promise<void> | undefined {
    if (this.#began === undefined) this.#begin();
    return this.#now() - this.#began! < WORK_MS ? undefined : this.#take();
  }

  async #take(): Promise<void> {
    await this.#turns.next();
    this.#begin();
  }

  #begin(): void {
    this.#began = this.#now();
    if (this.#ending) return;
    this.#ending = true;
    setImmediate(() => {
      this.#ending = false;
      this.#began = undefined;
    });
  }
}

/** Those of this thread. */
export const breaks = new Breaks();

/** Runs all steps, with breaks between them, and returns the result. */
export async function withBreaks<T>(steps: Iterator<unknown, T, void>): Promise<T> {
  const first = steps.next();
  if (first.done) return first.value;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const due = breaks.due();
    if (due !== undefined) await due;
  }
}
