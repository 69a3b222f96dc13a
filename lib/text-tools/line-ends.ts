import type { Replacement } from './find-edit.ts';

/**
 * The ends of a text's lines: 1 is CRLF. Edits are made in the text without CR, and lines that they do not replace keep
 * their ends, also in a file that has both.
 */
export class LineEnds {
  #ends: Uint8Array;

  constructor(text: string) {
    this.#ends = new Uint8Array(breaksOf(text));
    for (let at = text.indexOf('\n'), line = 0; at >= 0; at = text.indexOf('\n', at + 1), line++) {
      this.#ends[line] = text[at - 1] === '\r' ? 1 : 0;
    }
  }

  /** Follows an edit of `text`, which is without CR. New lines end like those that they replace, or those beside. */
  replace(text: string, { from, to, text: by }: Replacement): void {
    const first = breaksOf(text, 0, from);
    const replaced = this.#ends.subarray(first, first + breaksOf(text, from, to));
    const ends = new Uint8Array(breaksOf(by)).fill(replaced.at(-1) ?? this.#ends[first - 1] ?? this.#ends[first] ?? 0);
    ends.set(replaced.subarray(0, ends.length));
    const after = this.#ends.subarray(first + replaced.length);
    this.#ends = Buffer.concat([this.#ends.subarray(0, first), ends, after]);
  }

  /** The text with its ends. */
  restored(text: string): string {
    if (!this.#ends.includes(1)) return text;
    if (!this.#ends.includes(0)) return text.replaceAll('\n', '\r\n');
    let line = 0;
    return text.replaceAll('\n', () => (this.#ends[line++] === 1 ? '\r\n' : '\n'));
  }
}

function breaksOf(text: string, from = 0, to = text.length): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
