/**
 * The end of one sandbox: by itself or by a failure, which `exited` reports, or by `stop`, which it does not. Order:
 * `markFailed` (optional, the first reason is kept), then `markExited` once no process is left.
 */
export class SandboxLife {
  /** Resolves once, with the reason, if the sandbox ends without `stop`; never settles after `stop`. */
  readonly exited: Promise<string>;
  #resolveExited!: (reason: string) => void;
  #failureReason: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor() {
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
  }

  /** The reason why the sandbox has to end although it was not stopped. */
  get failureReason(): string | undefined {
    return this.#failureReason;
  }

  /** Records the reason why the sandbox has to end; the first one is kept. Kills nothing. */
  markFailed(reason: string): void {
    this.#failureReason ??= reason;
  }

  /** Call when every process has exited. Returns the reason for the commands in progress. */
  markExited(how: string): string {
    const reason = this.#failureReason ?? how;
    if (this.#stopped === undefined) this.#resolveExited(reason);
    return reason;
  }

  /** Runs `end` at the first call; later calls wait for the same result. */
  stop(end: () => Promise<void>): Promise<void> {
    this.#stopped ??= end();
    return this.#stopped;
  }
}
