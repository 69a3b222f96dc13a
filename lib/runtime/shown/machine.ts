import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** Refreshes in a second, each of about 0.2 ms: what is beyond it waits for the next second. */
const REFRESHES = 100;

/** What the files of all sandboxes are made of, and how often they may be made again. */
export class Machine {
  readonly memoryBytes = totalmem();
  /** Those that this process, and with it every sandbox, may run on. */
  readonly cores = availableParallelism();
  #cpuinfo: string | undefined;
  #bootTime: string | undefined;
  #second = 0;
  #refreshes = 0;

  get cpuinfo(): string {
    this.#cpuinfo ??= readFileSync('/proc/cpuinfo', 'latin1');
    return this.#cpuinfo;
  }

  /** A line of /proc/stat. */
  get bootTime(): string {
    this.#bootTime ??= /^btime \d+\n/m.exec(readFileSync('/proc/stat', 'latin1'))?.[0] ?? '';
    return this.#bootTime;
  }

  mayRefresh(): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) [this.#second, this.#refreshes] = [second, 0];
    return this.#refreshes++ < REFRESHES;
  }
}
