import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const KEY = 'held syncs';
const NAMES = ['fsyncSync', 'fdatasyncSync'] as const;
type Name = (typeof NAMES)[number];

/** Indices of the shared memory: the call that is held (from 1), the one that fails, the deadly one, how many are being held. */
const [HELD, FAILING, DEADLY, BEGUN] = [0, 1, 2, 3];

/** Holds the syncs of sync threads, lets them fail or end their thread, by way of `slow-sync-entry.ts`. */
export class HeldSyncs {
  readonly #state: Int32Array;

  private constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory);
  }

  /** Side in the test's thread; call it before the mount. */
  static inMemory(): HeldSyncs {
    const memory = new SharedArrayBuffer(16);
    setEnvironmentData(KEY, memory);
    return new HeldSyncs(memory);
  }

  static inThread(): HeldSyncs {
    return new HeldSyncs(getEnvironmentData(KEY) as unknown as SharedArrayBuffer);
  }

  /** Holds each later call until `release`. */
  hold(name: Name): void {
    Atomics.store(this.#state, BEGUN, 0);
    Atomics.store(this.#state, HELD, NAMES.indexOf(name) + 1);
  }

  release(): void {
    Atomics.store(this.#state, HELD, 0);
    Atomics.notify(this.#state, HELD);
  }

  /** Lets each later call fail with EIO; undefined: none. */
  fail(name: Name | undefined): void {
    Atomics.store(this.#state, FAILING, name === undefined ? 0 : NAMES.indexOf(name) + 1);
  }

  /** Lets the next call end its thread. */
  kill(name: Name): void {
    Atomics.store(this.#state, DEADLY, NAMES.indexOf(name) + 1);
  }

  /** Calls that were held since `hold`. */
  get begun(): number {
    return Atomics.load(this.#state, BEGUN);
  }

  /** In the thread, before the call. */
  pass(name: Name): void {
    const own = NAMES.indexOf(name) + 1;
    if (Atomics.compareExchange(this.#state, DEADLY, own, 0) === own) process.exit(1);
    if (Atomics.load(this.#state, FAILING) === own)
      throw Object.assign(new Error('EIO: injected'), { code: 'EIO', errno: -5 });
    if (Atomics.load(this.#state, HELD) !== own) return;
    Atomics.add(this.#state, BEGUN, 1);
    Atomics.wait(this.#state, HELD, own);
  }
}
