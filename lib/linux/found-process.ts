import { startOf } from './process-start.ts';

/** A process that was found. Node has no pidfd_open(2), so turns later its pid may be that of another process. */
export class FoundProcess {
  readonly pid: number;
  readonly #started: string | undefined;

  /** `started`: see `startOf`, read when it was found; absent: it is signalled in the turn in which it was found. */
  constructor(pid: number, started?: string) {
    this.pid = pid;
    this.#started = started;
  }

  /** Whether its pid is still its own. */
  get isSame(): boolean {
    return this.#started === undefined || startOf(this.pid) === this.#started;
  }

  /** Sends it a signal unless it has ended. Never throws. */
  send(signal: NodeJS.Signals): void {
    if (!this.isSame) return;
    try {
      process.kill(this.pid, signal);
    } catch {
      // It has just ended.
    }
  }
}
