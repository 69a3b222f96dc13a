import { type Duration, secondsOf } from '../duration.ts';
import type { CallOptions, Row } from './call.ts';

/** The service says nothing while it receives a body, nor while it waits: for the end of a command, a port, output, or a reader of input. */
const SILENT = new Set(['exec', 'sessionExec', 'waitPort', 'readProcessOutput', 'writeProcessInput', 'importImage']);

/** Ends a call when no byte of its answer has come for a time. */
export class Silence {
  readonly signal: AbortSignal;
  isOver = false;
  readonly #ms: number;
  readonly #controller = new AbortController();

  private constructor(ms: number, signal: AbortSignal | undefined) {
    this.#ms = ms;
    this.signal = signal ? AbortSignal.any([signal, this.#controller.signal]) : this.#controller.signal;
  }

  /** undefined: without a limit of this package. `usual`: that of the client, for all calls whose answer begins at once. */
  static of(
    { operation, row, options }: { operation: string; row: Row; options: CallOptions },
    usual: Duration | undefined,
  ): Silence | undefined {
    const isUsual = row.kind !== 'events' && row.kind !== 'raw' && !SILENT.has(operation);
    const limit = options.timeout ?? (isUsual ? usual : undefined);
    return limit === undefined ? undefined : new Silence(secondsOf('timeout', limit) * 1000, options.signal);
  }

  /** Waits for the next bytes. */
  async during<T>(bytes: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort();
    }, this.#ms);
    try {
      return await bytes;
    } finally {
      clearTimeout(timer);
    }
  }
}
