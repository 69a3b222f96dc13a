import { SerialQueue } from '../serial-queue.ts';

/** A log, as its budget sees it. */
export interface BudgetedLog {
  /** Bytes on the disk. */
  readonly kept: number;
  readonly ended: boolean;
  /** Removes the oldest part. `kept` has shrunk when it returns, the disk has when it resolves. Never rejects. */
  dropOldest(): Promise<void>;
}

/**
 * The bytes that all output logs of one sandbox may keep on the disk together. Their writes take turns, so that a
 * sandbox uses at most one thread of Node's pool for its output, and no two writes count on the same free bytes.
 */
export class LogBudget {
  readonly maxBytes: number;
  readonly #diskRoom: () => number;
  readonly #logs = new Set<BudgetedLog>();
  readonly #turns = new SerialQueue();

  /** `diskRoom`: bytes that the disk has for logs. */
  constructor(maxBytes: number, diskRoom: () => number = () => Number.POSITIVE_INFINITY) {
    this.maxBytes = maxBytes;
    this.#diskRoom = diskRoom;
  }

  /** Bytes that the logs keep. */
  get kept(): number {
    let sum = 0;
    for (const log of this.#logs) sum += log.kept;
    return sum;
  }

  add(log: BudgetedLog): void {
    this.#logs.add(log);
  }

  delete(log: BudgetedLog): void {
    this.#logs.delete(log);
  }

  /** Runs one write or removal of a log, when those before it have ended. */
  turn<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run(task);
  }

  /**
   * Within a turn: drops the oldest output of the logs that keep most until `bytes` more fit, of which the disk has to find room
   * for `growth`. A log that has ended counts twice. Returns false if nothing is left to drop.
   */
  async makeRoom(bytes: number, growth = bytes): Promise<boolean> {
    let kept = this.kept;
    while (kept + bytes > this.maxBytes || growth > this.#diskRoom()) {
      const log = this.#largest();
      if (log === undefined) return false;
      await log.dropOldest();
      kept = this.kept;
    }
    return true;
  }

  #largest(): BudgetedLog | undefined {
    let largest: BudgetedLog | undefined;
    let most = 0;
    for (const log of this.#logs) {
      const weight = log.ended ? 2 * log.kept : log.kept;
      if (weight <= most) continue;
      most = weight;
      largest = log;
    }
    return largest;
  }
}
