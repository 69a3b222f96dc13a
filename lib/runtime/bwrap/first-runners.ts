/** Milliseconds without a launch after which first runners are started: more than there are from one creation of many to the next. */
const IDLE_MS = 20;
/** Runners that are started at a time. */
const AT_ONCE = 2;
/** Sandboxes that wait before those that have ended are looked for. */
const FEW = 64;

/** A sandbox that has been launched. */
interface Launched {
  /** Undefined once it has ended. */
  readonly init: number | undefined;
  /** Starts its runner, unless there is one. May reject: then the first command tells why, or succeeds. */
  startFirst(): Promise<void>;
}

/**
 * Starts the first runners of new sandboxes when no sandbox is being launched: a runner costs a quarter of a launch, and of many
 * sandboxes made at once, most have their first command later. A command that comes earlier starts its runner itself.
 */
export class FirstRunners {
  #launching = 0;
  #starting = 0;
  /** In the order of their launches. Between launches without a pause there may be ended ones, at most as many as others, or FEW. */
  #waiting: Launched[] = [];
  #most = FEW;
  #timer: NodeJS.Timeout | undefined;

  /** A launch begins; `launched` or `failed` must follow. */
  launching(): void {
    this.#launching++;
    clearTimeout(this.#timer);
  }

  launched(sandbox: Launched): void {
    this.#waiting.push(sandbox);
    if (this.#waiting.length > this.#most) {
      this.#waiting = this.#waiting.filter(({ init }) => init !== undefined);
      this.#most = Math.max(FEW, 2 * this.#waiting.length);
    }
    this.failed();
  }

  failed(): void {
    this.#launching--;
    clearTimeout(this.#timer);
    if (this.#launching > 0 || this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => this.#startNext(), IDLE_MS).unref();
  }

  /** Those that wait are not started. */
  close(): void {
    this.#waiting = [];
    clearTimeout(this.#timer);
  }

  #startNext(): void {
    while (this.#launching === 0 && this.#starting < AT_ONCE) {
      const sandbox = this.#waiting.shift();
      if (sandbox === undefined) return;
      this.#starting++;
      const ended = () => {
        this.#starting--;
        this.#startNext();
      };
      sandbox.startFirst().then(ended, ended);
    }
  }
}
