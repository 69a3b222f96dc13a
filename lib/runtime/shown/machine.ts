import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { Refreshes } from './refreshes.ts';

/** What the files of all sandboxes are made of, and when they are made again. */
export class Machine {
  readonly memoryBytes = totalmem();
  /** Those that this process, and with it every sandbox, may run on. */
  readonly cores = availableParallelism();
  readonly refreshes = new Refreshes();
  #cpuinfo: string | undefined;
  #bootTime: string | undefined;

  get cpuinfo(): string {
    this.#cpuinfo ??= readFileSync('/proc/cpuinfo', 'latin1');
    return this.#cpuinfo;
  }

  /** A line of /proc/stat. */
  get bootTime(): string {
    this.#bootTime ??= /^btime \d+\n/m.exec(readFileSync('/proc/stat', 'latin1'))?.[0] ?? '';
    return this.#bootTime;
  }
}
