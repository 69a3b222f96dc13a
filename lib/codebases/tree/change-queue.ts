import { ServiceError } from '../../errors.ts';
import { SerialQueue } from '../../serial-queue.ts';
import type { Head } from './head.ts';
import { type Change, type Made, makeVersion } from './make-version.ts';
import { timeOfMs } from './new-entry.ts';
import { Numbers } from './numbers.ts';
import { storeError } from './store-error.ts';
import type { TreeParts } from './tree-parts.ts';

interface Waiting {
  readonly change: Change;
  resolve(done: Done<never>): void;
  reject(error: unknown): void;
}

/** What a change answered, and the first head that has it. */
interface Done<Answer> {
  readonly answer: Answer;
  readonly head: Head;
}

/** How often a version is made again because somebody else has moved the head meanwhile. */
const ATTEMPTS = 8;

/**
 * Makes the changes of a codebase one version after the other. Uploads and removals that wait become one version together:
 * it costs as much as one of them alone. A change is answered when the head that has it is durable.
 */
export class ChangeQueue {
  readonly numbers = new Numbers(1);
  readonly #parts: TreeParts;
  readonly #turns = new SerialQueue();
  #waiting: Waiting[] = [];

  constructor(parts: TreeParts) {
    this.#parts = parts;
  }

  add<Answer>(change: Change<Answer>): Promise<Done<Answer>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      void this.#turns.run(() => this.#next());
    });
  }

  /** After all changes before it, and before those after it. */
  between<T>(step: () => Promise<T>): Promise<T> {
    return this.#turns.run(step);
  }

  async #next(): Promise<void> {
    const group = this.#take();
    if (group.length === 0) return;
    try {
      await this.#make(group);
    } finally {
      this.#parts.quota.release();
    }
  }

  /** An import is a version of its own. */
  #take(): Waiting[] {
    const first = this.#waiting.findIndex(({ change }) => change.kind === 'import');
    return this.#waiting.splice(0, first < 0 ? this.#waiting.length : Math.max(1, first));
  }

  async #make(group: readonly Waiting[]): Promise<void> {
    let made: Made | undefined;
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const from = this.#parts.head();
        this.numbers.passOver(from.nextIno);
        made = undefined;
        made = await this.#version(from, group);
        const moved = made.head === undefined || (await this.#parts.advance(from, made.head));
        made.writing.end();
        if (moved === true) return answer(group, made, made.head ?? from);
        if (moved === false) continue;
        made = undefined;
        throw moved;
      }
      throw new ServiceError('ABORTED', 'the codebase is changed by others all the time; try again');
    } catch (error) {
      // Whether the head moved is not known if it was tried: the same changes must not be made twice.
      if (made === undefined && group.length > 1) return this.#makeEach(group);
      made?.writing.end();
      for (const { reject } of group) reject(storeError(error));
    }
  }

  /** One that cannot be made must not take the others with it. */
  async #makeEach(group: readonly Waiting[]): Promise<void> {
    for (const each of group) await this.#make([each]);
  }

  #version(from: Head, group: readonly Waiting[]): Promise<Made> {
    const { store, quota, run, now } = this.#parts;
    const ms = now();
    const parts = { store, quota, numbers: this.numbers, ms, time: timeOfMs(ms) };
    const changes = group.map(({ change }) => change);
    return run(makeVersion(from, changes, parts));
  }
}

function answer(group: readonly Waiting[], { outcomes }: Made, head: Head): void {
  for (const [index, outcome] of outcomes.entries()) {
    if ('refusal' in outcome) group[index]!.reject(outcome.refusal);
    else group[index]!.resolve({ answer: outcome.answer as never, head });
  }
}
