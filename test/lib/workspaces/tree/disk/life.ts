import type { TreeStore } from '../../../../../lib/workspaces/tree/disk/tree-store.ts';
import { type SimulatedDisk, Stopped } from '../../../disk/simulated-disk.ts';
import type { Random } from '../../../trees/random.ts';
import { record, stateAfter } from './numbered.ts';
import { type History, opened, storeIn } from './opened.ts';
import { SteppedSync, settled } from './stepped-sync.ts';

/** What one server does with a store from its opening to its end, with the history that it must keep. */
export class Life {
  readonly disk: SimulatedDisk;
  readonly store: TreeStore;
  readonly #random: Random;
  readonly #thread: SteppedSync;
  readonly #history: number[];
  /** Records of the history that a loss of power must not take. */
  durable = 0;
  /** The record that was being written when the server ended. */
  last: number | undefined;

  constructor(disk: SimulatedDisk, random: Random, history: History = []) {
    this.disk = disk;
    this.#random = random;
    this.#thread = new SteppedSync(disk);
    const { store, found } = opened(storeIn(disk, this.#thread.sync, random), history);
    this.store = store;
    this.#history = [...history.slice(0, found)];
  }

  get history(): History {
    return this.#history;
  }

  /** A random thing. Returns false at the end of the server. */
  async act(): Promise<boolean> {
    try {
      const choice = this.#random(10);
      if (choice < 5) this.append();
      else if (choice === 5) this.sync();
      else if (choice === 6) this.freeze();
      else await this.#thread.advance();
      await settled();
      return true;
    } catch (error) {
      if (error instanceof Stopped) return false;
      if (isHostError(error)) return true;
      throw error;
    }
  }

  append(length = this.#random(20) === 0 ? this.#random(100_000) : 0): void {
    // Mostly the same: so a record of another life would fit, too.
    const kind = this.#random(8) === 0 ? 1 : 0;
    this.last = kind;
    this.store.append(record(this.#history.length + 1, kind, length), false);
    this.#history.push(kind);
    this.last = undefined;
  }

  sync(): void {
    this.#becomesDurable(this.store.sync());
  }

  freeze(): void {
    if (this.store.isFreezing) return;
    const { durable } = this.store.freeze((sink, begin) => begin(stateAfter(this.#history.length, sink)));
    this.#becomesDurable(durable);
  }

  async finish(): Promise<void> {
    while (this.#thread.isRunning) await this.#thread.advance();
  }

  #becomesDurable(promise: PromiseLike<void>): void {
    const { length } = this.#history;
    promise.then(
      () => {
        this.durable = Math.max(this.durable, length);
      },
      () => {},
    );
  }
}

function isHostError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errno' in error;
}
