/** Runs one task at a time, in order of arrival. A failed task does not stop the queue. */
export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(task);
    // Without the result, which may be large.
    const ended = () => undefined;
    this.#tail = result.then(ended, ended);
    return result;
  }
}
