import type { Disk } from '../../../../../lib/disk/disk.ts';
import { runSteps, type SyncStep } from '../../../../../lib/workspaces/tree/disk/sync-steps.ts';

interface Running {
  readonly steps: SyncStep[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/** The other thread: it does one step of a sync when the test says so. */
export class SteppedSync {
  readonly #disk: Disk;
  #running: Running | undefined;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  readonly sync = (steps: readonly SyncStep[]): Promise<void> => {
    return new Promise((done, failed) => {
      this.#running = { steps: [...steps], done, failed };
    });
  };

  /** One step, and what follows from it in the owner's thread. */
  async advance(): Promise<void> {
    const running = this.#running;
    if (running !== undefined) this.#step(running);
    await settled();
  }

  #step(running: Running): void {
    const step = running.steps.shift();
    try {
      if (step !== undefined) runSteps(this.#disk, [step]);
      if (running.steps.length > 0) return;
      this.#running = undefined;
      running.done();
    } catch (error) {
      this.#running = undefined;
      running.failed(error);
    }
  }
}

/** All that a settled promise leads to has happened. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
