import { environment } from '../command-line/environment.ts';
import { Traces } from './reset.ts';

export interface Size {
  columns: number;
  rows: number;
}

/** What the API accepts at most. */
const MOST = 1000;

export function terminalSize(): Size {
  const { columns, rows } = [process.stdout, process.stderr].find(({ isTTY }) => isTTY) ?? {};
  return { columns: Math.min(columns || 80, MOST), rows: Math.min(rows || 24, MOST) };
}

/**
 * The terminal of this program. In raw mode, keys such as ^C are read as they are typed. It is set back when the program
 * ends, however it does, except by SIGKILL.
 */
export class LocalTerminal {
  readonly #traces = new Traces();
  #raw = false;
  readonly #restore = () => this.restore();
  /** A shell sets the modes of its own when it stops and continues a program. */
  readonly #again = () => void process.stdin.setRawMode(true);

  enterRaw(): void {
    if (this.#raw) return;
    this.#raw = true;
    process.on('exit', this.#restore).on('SIGCONT', this.#again);
    process.stdin.setRawMode(true);
  }

  /** Resolves when the terminal has taken the output. */
  async write(output: Uint8Array): Promise<void> {
    if (process.stdout.isTTY) this.#traces.read(output);
    await new Promise<void>((resolve) => process.stdout.write(output, () => resolve()));
  }

  /** Idempotent, and synchronous: also the last thing that this program does. */
  restore(): void {
    const reset = this.#traces.reset(environment().TERM);
    if (reset !== '') process.stdout.write(reset);
    if (!this.#raw) return;
    this.#raw = false;
    process.off('exit', this.#restore).off('SIGCONT', this.#again);
    process.stdin.setRawMode(false);
  }
}
