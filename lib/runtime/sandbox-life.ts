/**
 * How one sandbox ends: by itself or because it broke, which `died` reports, or by `stop`, which reports nothing.
 * The order: `markBroken` (optional, the first reason counts), then `exited` once no process is left.
 */
export class SandboxLife {
  /** Settles once, with the reason, when the sandbox ended without `stop`; never settles after `stop`. */
  readonly died: Promise<string>;
  #resolveDied!: (reason: string) => void;
  #brokenReason: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor() {
    this.died = new Promise((resolve) => {
      this.#resolveDied = resolve;
    });
  }

  /** Why the sandbox has to end although nobody stopped it. */
  get brokenReason(): string | undefined {
    return this.#brokenReason;
  }

  markBroken(reason: string): void {
    this.#brokenReason ??= reason;
  }

  /** Every process has ended. Returns the reason for the commands that were under way. */
  exited(how: string): string {
    const reason = this.#brokenReason ?? how;
    if (this.#stopped === undefined) this.#resolveDied(reason);
    return reason;
  }

  /** Runs `end` at the first call; later calls wait for the same end. */
  stop(end: () => Promise<void>): Promise<void> {
    this.#stopped ??= end();
    return this.#stopped;
  }
}
