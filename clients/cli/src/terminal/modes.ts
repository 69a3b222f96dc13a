/** Cursor and automatic margins: on in a terminal that no program has changed. */
const ON_BY_DEFAULT = new Set(['25', '7']);
/** Longer than any sequence of modes. */
const MOST = 64;
const MOST_MODES = 256;

/**
 * The modes that the output of a program has changed on the local terminal. A program that ends sets them back itself;
 * who leaves it before that must do so.
 */
export class TerminalModes {
  readonly #changed = new Set<string>();
  #keypad = false;
  #rest = '';

  /** Reads output as it is written to the terminal. */
  read(output: Uint8Array): void {
    const text = this.#rest + Buffer.from(output.buffer, output.byteOffset, output.byteLength).toString('latin1');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence.
    for (const [, modes, action, keypad] of text.matchAll(/\x1b(?:\[\?([\d;]+)([hl])|([=>c]))/g)) {
      if (keypad === 'c') this.#changed.clear();
      if (keypad !== undefined) this.#keypad = keypad === '=';
      for (const mode of modes?.split(';') ?? []) this.#set(mode, action === 'h');
    }
    // The beginning of a sequence that goes on in the next piece.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence.
    this.#rest = /\x1b(?:\[(?:\?[\d;]*)?)?$/.exec(text.slice(-MOST))?.[0] ?? '';
  }

  #set(mode: string, on: boolean): void {
    if (on === ON_BY_DEFAULT.has(mode)) this.#changed.delete(mode);
    else if (this.#changed.size < MOST_MODES) this.#changed.add(mode);
  }

  /** What brings the terminal back to its normal state; empty: nothing was changed. */
  reset(): string {
    const modes = [...this.#changed].map((mode) => `\x1b[?${mode}${ON_BY_DEFAULT.has(mode) ? 'h' : 'l'}`);
    const keypad = this.#keypad ? '\x1b>' : '';
    this.#changed.clear();
    this.#keypad = false;
    return modes.length + keypad.length === 0 ? '' : `${modes.join('')}${keypad}\x1b[0m`;
  }
}
