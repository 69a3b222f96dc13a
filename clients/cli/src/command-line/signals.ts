import { EXIT } from './errors.ts';

type Handler = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void;

/** The signal that ended a command. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly exitCode: number;

  constructor(signal: string) {
    super(`interrupted by ${signal}`);
    this.exitCode = signal === 'SIGINT' ? EXIT.interrupted : signal === 'SIGHUP' ? 129 : EXIT.terminated;
  }
}

/** Milliseconds within which signals count as one: ^C reaches a whole process group, and a wrapper like npm forwards it. */
const ONE_SIGNAL_MS = 500;

/**
 * Signals to this process. The first one aborts `abort`, whose listeners clean up; a second one exits at once. While a
 * command has taken them, they go to it instead, for example to a process of the sandbox.
 */
export class Signals {
  readonly #controller = new AbortController();
  #taken: Handler | undefined;
  #abortedAt = 0;
  /** The last one that came, also while they were taken. */
  last: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  count = 0;

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#on(signal));
  }

  get abort(): AbortSignal {
    return this.#controller.signal;
  }

  /** Returns the function that gives them back. */
  take(handler: Handler): () => void {
    const before = this.#taken;
    this.#taken = handler;
    return () => {
      this.#taken = before;
    };
  }

  #on(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void {
    this.last = signal;
    this.count++;
    if (this.#taken) {
      this.#taken(signal);
      return;
    }
    const reason = new Interrupted(signal);
    const now = performance.now();
    if (!this.#controller.signal.aborted) this.#abortedAt = now;
    else if (now - this.#abortedAt > ONE_SIGNAL_MS) process.exit(reason.exitCode);
    this.#controller.abort(reason);
  }
}
