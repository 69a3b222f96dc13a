type Undo = () => unknown;

/** What was begun, to be ended in reverse order, once. An end that fails does not keep the others. */
export class UndoStack {
  readonly #undos: { name: string; undo: Undo }[] = [];
  readonly #failed: (name: string, error: unknown) => void;

  constructor(failed: (name: string, error: unknown) => void) {
    this.#failed = failed;
  }

  add(name: string, undo: Undo): void {
    this.#undos.push({ name, undo });
  }

  async unwind(): Promise<void> {
    for (let next = this.#undos.pop(); next; next = this.#undos.pop()) {
      try {
        await next.undo();
      } catch (error) {
        this.#failed(next.name, error);
      }
    }
  }
}
