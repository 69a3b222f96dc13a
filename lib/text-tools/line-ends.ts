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

  /**
   * Follows replacements in `text`, which is without CR, in ascending order. New lines end like those that they replace, or
   * those beside.
   */
  replace(text: string, replacements: readonly Replacement[]): void {
    const parts: Uint8Array[] = [];
    let [at, line] = [0, 0];
    for (const { from, to, text: by } of replacements) {
      const first = line + breaksOf(text.slice(at, from));
      const replaced = this.#ends.subarray(first, first + breaksOf(text.slice(from, to)));
      const beside = replaced.at(-1) ?? this.#ends[first - 1] ?? this.#ends[first] ?? 0;
      const ends = new Uint8Array(breaksOf(by)).fill(beside);
      ends.set(replaced.subarray(0, ends.length));
      parts.push(this.#ends.subarray(line, first), ends);
      [at, line] = [to, first + replaced.length];
    }
    this.#ends = Buffer.concat([...parts, this.#ends.subarray(line)]);
  }

  /** The text with its ends. */
  restored(text: string): string {
    if (!this.#ends.includes(1)) return text;
    if (!this.#ends.includes(0)) return text.replaceAll('\n', '\r\n');
    let line = 0;
    return text.replaceAll('\n', () => (this.#ends[line++] === 1 ? '\r\n' : '\n'));
  }
}

function breaksOf(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
