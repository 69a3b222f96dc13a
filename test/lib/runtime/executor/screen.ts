import xterm from '@xterm/headless';
import type { TerminalSize } from '../../../../lib/runtime/runtime.ts';

/** What a terminal shows that received some output: the reference is a terminal emulator that others use. */
export class Screen {
  readonly #terminal: InstanceType<typeof xterm.Terminal>;
  #written = 0;

  constructor({ columns, rows }: TerminalSize) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#terminal.resize(columns, rows);
  }

  /** The lines, without spaces at their ends, after all of this output; parts of it may have been passed before. */
  async lines(output: Buffer): Promise<string[]> {
    const more = output.subarray(this.#written);
    this.#written = output.length;
    await new Promise<void>((resolve) => this.#terminal.write(more, resolve));
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) =>
      (active.getLine(active.baseY + row)?.translateToString(true) ?? '').trimEnd(),
    );
  }
}
