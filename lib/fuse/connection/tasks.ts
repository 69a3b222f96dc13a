import { type Steps, Waiting } from './steps.ts';
import { WaitQueue } from './wait-queue.ts';

/** How long one task runs before other requests are served, in ms. */
const SLICE_MS = 2;

/** Steps with the receiver of their result. */
export interface Task {
  steps: Steps<unknown>;
  /** Called with each partial result. */
  part(value: unknown): void;
  /** Called once with the result. */
  done(value: unknown): void;
  /** Called once with the exception that ended the steps. */
  failed(thrown: unknown): void;
}

/**
 * Runs long work between requests, round-robin, one slice of 2 ms at a time. Tasks that wait for an event take no turns
 * until its cause is released.
 */
export class Tasks {
  readonly #queue: Task[] = [];
  readonly #waiting = new WaitQueue<Task>();
  readonly #now: () => number;
  /** Steps run in the current or last slice. */
  stepsInSlice = 0;
  /** Slices run so far. */
  slices = 0;

  /** `now`: a clock in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Number of tasks with a slice to run. */
  get size(): number {
    return this.#queue.length;
  }

  /** Appends a task to the queue. */
  add(task: Task): void {
    this.#queue.push(task);
  }

  /** Runs the first slice of a task at once, so that a short one is finished on return; the rest is queued. */
  begin(task: Task): void {
    this.#slice(task);
  }

  /** Continues the tasks that wait for `cause`. */
  release(cause: number): void {
    this.#waiting.release(cause);
    for (let task = this.#waiting.next(); task !== undefined; task = this.#waiting.next()) this.#queue.push(task);
  }

  /** Runs one slice of the task at the head of the queue. */
  run(): void {
    const task = this.#queue.shift();
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
      if (result.value instanceof Waiting) {
        this.#waiting.add(result.value.begin(), task);
        return;
      }
      if (result.value !== undefined) task.part(result.value);
    } while (this.#now() < until);
    this.#queue.push(task);
  }
}
