import { StringDecoder } from 'node:string_decoder';

/** Texts with fewer bytes are strings. */
const LONG = 65_536;
/** Bytes decoded in one step. */
const PIECE = 16_384;

/** Text of a response. A long one is encoded in pieces. */
export type Text = string | LongText;

/**
 * A text as bytes, decoded in pieces: U+FFFD for bytes that are not UTF-8. The threat: a string of megabytes that was
 * appended to many times is copied in one step when it is first read, which blocks the main thread for 30 ms.
 */
export class LongText {
  readonly #chunks: readonly Buffer[];
  /** Appended to the bytes, of which a partial last character is then omitted; undefined: the bytes are complete. */
  readonly #end: string | undefined;

  constructor(chunks: readonly Buffer[], end?: string) {
    this.#chunks = chunks;
    this.#end = end;
  }

  /** The text in strings of at most PIECE characters (the end apart), with no character divided. */
  *pieces(): Generator<string, void, void> {
    const decoder = new StringDecoder('utf8');
    let last = '';
    for (const chunk of this.#chunks) {
      for (let from = 0; from < chunk.length; from += PIECE) {
        const piece = decoder.write(chunk.subarray(from, from + PIECE));
        if (piece === '') continue;
        last = piece;
        yield piece;
      }
    }
    if (this.#end === undefined) {
      const rest = decoder.end();
      if (rest !== '') yield rest;
    } else {
      yield `${last === '' || last.endsWith('\n') ? '' : '\n'}${this.#end}`;
    }
  }

  /** At least the last `bytes` bytes of the text; bytes of a divided first character are U+FFFD. */
  ending(bytes: number): string {
    const last: Buffer[] = [];
    let length = 0;
    for (let index = this.#chunks.length - 1; index >= 0 && length < bytes; index--) {
      const chunk = this.#chunks[index]!.subarray(length - bytes);
      last.unshift(chunk);
      length += chunk.length;
    }
    return new LongText(last, this.#end).toString();
  }

  toString(): string {
    return [...this.pieces()].join('');
  }

  toJSON(): string {
    return this.toString();
  }
}

/** The chunks as one text. `end`: see LongText. */
export function textOf(chunks: readonly Buffer[], end?: string): Text {
  const [first, second] = chunks;
  if (end === undefined && second === undefined) {
    if (first === undefined) return '';
    if (first.length < LONG) return first.toString('utf8');
  }
  const text = new LongText(chunks, end);
  return chunks.reduce((sum, { length }) => sum + length, 0) < LONG ? text.toString() : text;
}

/** Gathers a text that arrives in many pieces. */
export class TextBuffer {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes of the last chunk's memory that are in use. */
  #tail: { memory: Buffer; used: number } | undefined;

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps `data`, which must not change later, or copies it if that keeps less memory. */
  append(data: Buffer): void {
    this.#bytes += data.length;
    const rest = data.subarray(this.#fill(data));
    if (rest.length === 0) return;
    if (2 * rest.length >= rest.buffer.byteLength) {
      this.#tail = undefined;
      this.#chunks.push(rest);
      return;
    }
    const memory = Buffer.allocUnsafeSlow(Math.max(rest.length, Math.min(LONG, 2 * (this.#tail?.memory.length ?? 0))));
    memory.set(rest);
    this.#tail = { memory, used: rest.length };
    this.#chunks.push(memory.subarray(0, rest.length));
  }

  /** They must not be changed, and are valid until the next `append`. */
  get chunks(): readonly Buffer[] {
    return this.#chunks;
  }

  /** `end`: see LongText. */
  text(end?: string): Text {
    return textOf(this.#chunks, end);
  }

  /** Copies as much of `data` as the last chunk's memory has room for. Returns the number of bytes. */
  #fill(data: Buffer): number {
    const tail = this.#tail;
    if (tail === undefined) return 0;
    const fits = data.subarray(0, tail.memory.length - tail.used);
    tail.memory.set(fits, tail.used);
    tail.used += fits.length;
    this.#chunks[this.#chunks.length - 1] = tail.memory.subarray(0, tail.used);
    return fits.length;
  }
}
