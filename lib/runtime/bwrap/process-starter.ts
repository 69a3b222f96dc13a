import type { Log } from '../../log.ts';
import { byProgram } from '../executor/fifo-pool.ts';
import type { Inheritance } from './prelude.ts';
import { ShellProcess } from './shell-process.ts';
import { Spawner } from './spawner.ts';
import type { WaitingProcess } from './waiting-process.ts';

/** Milliseconds from one attempt to start a spawner to the next. */
const AGAIN_MS = 60_000;

export interface StarterOptions {
  inheritance: Inheritance;
  /** Understands the arguments of perl. Absent: perl. */
  program?: string | undefined;
  /** Milliseconds in which the spawner must answer. Absent: its own. */
  answerMs?: number;
  log: Log;
}

/**
 * Starts the processes that become sandboxes: by a spawner, or, where there is none, as children of this process. The fork of a
 * process as large as the server takes longer than the rest of a launch, and stops its main thread.
 */
export class ProcessStarter {
  readonly #options: StarterOptions;
  #spawner: Spawner | undefined;
  #opening: Promise<void> | undefined;
  #tried = Number.NEGATIVE_INFINITY;
  #closed = false;
  /** Whether the spawner is left out because it did not answer. */
  #isIgnored = false;

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** Resolves when it is known whether there is a spawner. Never rejects. */
  open(): Promise<void> {
    this.#closed = false;
    if (this.#spawner !== undefined && !this.#spawner.failure) return Promise.resolve();
    this.#opening ??= this.#try().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Throws if the host has no room for a process. */
  start(entries: readonly string[]): WaitingProcess {
    const { inheritance } = this.#options;
    const spawner = this.#answering();
    if (spawner !== undefined) return spawner.start(entries, inheritance.niceness);
    if (!this.#closed && !this.#isIgnored && performance.now() - this.#tried > AGAIN_MS) void this.open();
    return new ShellProcess(entries, inheritance);
  }

  /** See `MakeFifos`. */
  makeFifos(paths: readonly string[]): Promise<void> {
    return this.#answering()?.makeFifos(paths) ?? byProgram(paths);
  }

  /** See `GrowPipe`. Without a spawner nothing is done. */
  growPipe(fd: number): void {
    this.#spawner?.growPipe(fd);
  }

  /** Ends every sandbox that the spawner started. */
  close(): void {
    this.#closed = true;
    this.#spawner?.close();
    this.#spawner = undefined;
    this.#tried = Number.NEGATIVE_INFINITY;
  }

  /** One that does not answer is not ended, because its sandboxes would end with it. */
  #answering(): Spawner | undefined {
    const spawner = this.#spawner;
    if (spawner === undefined || spawner.failure) {
      this.#isIgnored = false;
      return undefined;
    }
    if (spawner.isSilent && !this.#isIgnored) {
      this.#options.log.warn('the process that starts sandboxes does not answer: they are started without it');
    }
    this.#isIgnored = spawner.isSilent;
    return spawner.isSilent ? undefined : spawner;
  }

  async #try(): Promise<void> {
    const { program, answerMs, log } = this.#options;
    if (performance.now() - this.#tried <= AGAIN_MS) return;
    this.#tried = performance.now();
    try {
      const spawner = await Spawner.open(program, answerMs === undefined ? {} : { answerMs });
      if (this.#closed) spawner.close();
      else this.#spawner = spawner;
    } catch (err) {
      log.info('sandboxes are started without a spawner, which takes longer', { err });
    }
  }
}
