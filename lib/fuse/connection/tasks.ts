import type { Steps } from './steps.ts';

/** How long one task is gone on with before others are served, in ms. */
const SLICE_MS = 2;

export interface Task {
  steps: Steps<unknown>;
  /** A part of the result. */
  part(value: unknown): void;
  done(value: unknown): void;
  failed(thrown: unknown): void;
}

/** Long work that is gone on with between requests: each task in turn, a slice at a time. */
export class Tasks {
  readonly #waiting: Task[] = [];
  readonly #now: () => number;
  /** Steps taken since the last slice began. */
  stepsInSlice = 0;
  slices = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** To be gone on with when those before it had their slice. */
  add(task: Task): void {
    this.#waiting.push(task);
  }

  /** Short ones are done when it returns. */
  begin(task: Task): void {
    this.#slice(task);
  }

  /** One slice of the task that waits longest. */
  run(): void {
    const task = this.#waiting.shift();
    if (task !== undefined) this.#slice(task);
  }

  #slice(task: Task): void {
    const until = this.#now() + SLICE_MS;
    this.slices++;
    this.stepsInSlice = 0;
    do {
      let result: IteratorResult<unknown, unknown>;
      try {
        result = task.steps.next();
        this.stepsInSlice++;
      } catch (thrown) {
        task.failed(thrown);
        return;
      }
      if (result.done) {
        task.done(result.value);
        return;
      }
      if (result.value !== undefined) task.part(result.value);
    } while (this.#now() < until);
    this.#waiting.push(task);
  }
}
