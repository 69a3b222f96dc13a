/** Bytes of buffers that became garbage, from which on they are collected soon. */
const MUCH = 16 * 1024 * 1024;
/** V8 begins to mark when the memory of buffers has grown by 64 MiB. */
const ENOUGH = 64 * 1024 * 1024;
const WAIT_MS = 1000;
const ROUNDS = 3;

/**
 * Has V8 collect large buffers soon after the last of them was dropped. V8 does so by itself only when others are made: after a
 * burst of large requests their memory would stay until the next one. What is allocated here is never touched, so it takes no
 * memory. Marking is incremental: nothing waits for it.
 */
export class CollectLater {
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** So many bytes of buffers are not used any more. */
  dropped(bytes: number): void {
    this.#dropped += bytes;
    if (this.#dropped < MUCH) return;
    this.#dropped = 0;
    clearTimeout(this.#timer);
    this.#later(ROUNDS);
  }

  #later(rounds: number): void {
    this.#timer = setTimeout(() => {
      Buffer.allocUnsafeSlow(ENOUGH);
      if (rounds > 1) this.#later(rounds - 1);
    }, WAIT_MS);
    this.#timer.unref();
  }
}
