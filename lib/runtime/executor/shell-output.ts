import type { CommandEvent } from '../runtime.ts';
import { EVENT_COST } from './execution.ts';

type Output = CommandEvent & { kind: 'output' };

/** Maximum bytes that are kept, with those that each piece takes besides its data. */
const KEPT = 65_536;

/**
 * What a session's shell writes to its own standard streams: first its path, then what an EXIT trap writes, and why it
 * ends. Only what was written since the start of the last command is kept.
 */
export class ShellOutput {
  #pieces: Output[] = [];
  #bytes = 0;
  #line = '';
  #resolve: ((line: string) => void) | undefined;

  /** Resolves with the first line on stdout. Call before the first `add`. */
  firstLine(): Promise<string> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  add(output: Output): void {
    if (this.#resolve && output.stream === 'STDOUT') {
      this.#line = (this.#line + output.data.toString()).slice(0, KEPT);
      const end = this.#line.indexOf('\n');
      if (end < 0) return;
      this.#resolve(this.#line.slice(0, end));
      this.#resolve = undefined;
      return;
    }
    if (this.#bytes >= KEPT) return;
    this.#bytes += output.data.length + EVENT_COST;
    this.#pieces.push({ ...output, data: Buffer.from(output.data) });
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  pieces(): readonly Output[] {
    return this.#pieces;
  }
}
