/** Modes of DEC that are off in a terminal that no program has changed, except mode 1049, and those that are on. */
const OFF = [1, 2026, 5, 45, 47, 69, 1047, 9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004];
const ON = [25, 7];

const CANCEL = '\x18\x1b\\';
/** From VT52 to ANSI. */
const ANSI = '\x1b<';
/** The alternate screen is left to where its cursor was; without one, to where it is. */
const SCREEN = '\x1b7\x1b[?1049l';
/** These move the cursor home, so it is kept. Origin mode, if that is kept, too, is none without a region. */
const REGION = '\x1b7\x1b[?69l\x1b[r\x1b8';
const SOFT_RESET = '\x1b[!p';
/** G0 to G3, and which of them is used; UTF-8. */
const CHARACTERS = '\x0f\x1b(B\x1b)B\x1b*B\x1b+B\x1b%G';
/** Insertion, and a line feed that is a return. Keys as they are without a protocol. */
const KEYS = '\x1b[4l\x1b[20l\x1b>\x1b[<99u\x1b[>4m';
/** Of the window, and of a hyperlink. */
const TITLE = '\x1b]2;paddock\x1b\\\x1b]8;;\x1b\\';
/** And nothing is left below the cursor, between what is shown next. */
const ATTRIBUTES = '\x1b["0q\x1b[0m\x1b[J';
/** Colours of the palette and of the screen, also on the console of Linux. */
const PALETTE = [104, 105, 110, 111, 112, 117, 119].map((code) => `\x1b]${code}\x1b\\`).join('');

const RESET = [
  ...[CANCEL, ANSI, SCREEN, REGION, SOFT_RESET, CHARACTERS, KEYS],
  ...[...OFF.map((mode) => `\x1b[?${mode}l`), ...ON.map((mode) => `\x1b[?${mode}h`), TITLE, ATTRIBUTES],
].join('');

/**
 * What the output of a program has left on the terminal. The threat: what is shown next, like a review of its changes, is
 * invisible by palette, region, character set or modes. Where a sequence begins and ends is not followed, as terminals
 * differ in that: any control character may have changed anything.
 */
export class Traces {
  #control = false;
  #colours = false;
  #before = 0;

  /** Reads output as it is written to the terminal. */
  read(output: Uint8Array): void {
    for (const byte of output) {
      if (COLOURS.get(this.#before)?.has(byte)) this.#colours = true;
      if (byte < 0x20 ? !PLAIN.has(byte) : byte >= 0x7f) this.#control = true;
      // Other control characters may stand within a sequence.
      if (byte >= 0x20 || byte === ESCAPE) this.#before = byte;
    }
  }

  /** What brings the terminal back to its normal state; empty: nothing was changed. */
  reset(term: string | undefined): string {
    if (!this.#control) return '';
    const colours = !this.#colours ? '' : term === 'linux' ? '\x1b]R' : PALETTE;
    this.#control = false;
    this.#colours = false;
    return RESET + colours;
  }
}

const ESCAPE = 0x1b;
/** What begins a string that may change colours, after ESC or as a character of UTF-8; or leaves UTF-8. */
const COLOURS: ReadonlyMap<number, ReadonlySet<number>> = new Map([
  [ESCAPE, new Set(Buffer.from(']P%'))],
  [0xc2, new Set([0x90, 0x9d])],
]);
/** Backspace, tab, line feed and return. */
const PLAIN = new Set([0x08, 0x09, 0x0a, 0x0d]);
