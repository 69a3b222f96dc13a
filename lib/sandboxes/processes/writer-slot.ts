/** The one caller among those attached to a process that may write to it. */
export class WriterSlot {
  #ended: (() => void) | undefined;

  /**
   * Makes the caller the writer. `lost` is called when another one takes over. Returns the function that leaves the slot,
   * or undefined if there is a writer already and `takeover` is false.
   */
  take(takeover: boolean, lost: () => void): (() => void) | undefined {
    if (this.#ended !== undefined && !takeover) return undefined;
    this.#ended?.();
    this.#ended = lost;
    return () => {
      if (this.#ended === lost) this.#ended = undefined;
    };
  }
}
