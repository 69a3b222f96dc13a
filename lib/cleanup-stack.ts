type Cleanup = () => unknown;

/** Cleanups, run once and in reverse order. A failed cleanup does not prevent the others. */
export class CleanupStack {
  readonly #cleanups: { name: string; cleanup: Cleanup }[] = [];
  readonly #failed: (name: string, error: unknown) => void;

  constructor(failed: (name: string, error: unknown) => void) {
    this.#failed = failed;
  }

  add(name: string, cleanup: Cleanup): void {
    this.#cleanups.push({ name, cleanup });
  }

  async unwind(): Promise<void> {
    for (let next = this.#cleanups.pop(); next; next = this.#cleanups.pop()) {
      try {
        await next.cleanup();
      } catch (error) {
        this.#failed(next.name, error);
      }
    }
  }
}
