import { writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { plainLine, sealedLine } from './journal-lines.ts';

/** Room in bytes; longer lines, and those with bytes above 0x7f, are encoded as text. */
const SIZE = 8192;
/** Room for the bracket, the checksum and the comma at the start of a line. */
const HEAD = 12;
/** Longest text of a safe integer, with a comma before it and a bracket or the end of the line behind it. */
const NUMBER = 20;
const BILLION = 1e9;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const OPEN = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE = 0x5d;
const LINE_END = 0x0a;

/**
 * The journal line of one record, which the next one replaces. Each request that changes something encodes one: as bytes in
 * half of the time that `sealedLine` needs, with the same result.
 */
export class JournalLine {
  readonly #bytes = Buffer.allocUnsafeSlow(SIZE);
  #start = HEAD;
  /** Position after the last byte. */
  #end = HEAD;
  /** A line that is not in `#bytes`. */
  #text: string | undefined;
  #sum = 0;

  /** Encodes the record as `sealedLine` does; without the checksum of the line before as `plainLine` does. */
  encode(record: readonly unknown[], before: number | undefined): this {
    this.#end = HEAD;
    if (before === undefined) this.#setText(plainLine(record), 0);
    else if (this.#elements(record)) this.#finish(before);
    else {
      const { line, sum } = sealedLine(record, before);
      this.#setText(line, sum);
    }
    return this;
  }

  #setText(text: string, sum: number): void {
    this.#text = text;
    this.#sum = sum;
  }

  /** Its checksum; 0: it has none. */
  get sum(): number {
    return this.#sum;
  }

  /** Size in bytes. */
  get length(): number {
    return this.#text?.length ?? this.#end - this.#start;
  }

  /** The line, one char per byte. */
  get text(): string {
    return this.#text ?? this.#bytes.toString('latin1', this.#start, this.#end);
  }

  /** As `writeLine`. */
  writeTo(fd: number): number {
    if (this.#text !== undefined) return writeLine(fd, this.#text);
    return writeSync(fd, this.#bytes, this.#start, this.length, null);
  }

  /** Encodes the elements of an array and its end, but not its start. Returns false for what is left to `sealedLine`. */
  #elements(array: readonly unknown[]): boolean {
    for (let i = 0; i < array.length; i++) {
      if (this.#end + NUMBER > SIZE) return false;
      if (i > 0) this.#bytes[this.#end++] = COMMA;
      if (!this.#value(array[i])) return false;
    }
    if (this.#end + NUMBER > SIZE) return false;
    this.#bytes[this.#end++] = CLOSE;
    return true;
  }

  #value(value: unknown): boolean {
    if (typeof value === 'number') return this.#number(value);
    if (typeof value === 'string') return this.#string(value);
    if (!Array.isArray(value)) return false;
    this.#bytes[this.#end++] = OPEN;
    return this.#elements(value);
  }

  #string(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#end;
    if (at + text.length + NUMBER > SIZE) return false;
    bytes[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const char = text.charCodeAt(i);
      // JSON escapes some characters. Of others the line has latin1, and the checksum is that of UTF-8.
      if (char < 0x20 || char > 0x7f || char === QUOTE || char === BACKSLASH) return false;
      bytes[at++] = char;
    }
    bytes[at++] = QUOTE;
    this.#end = at;
    return true;
  }

  #number(value: number): boolean {
    if (!Number.isSafeInteger(value)) return false;
    const left = Math.abs(value);
    if (value < 0) this.#bytes[this.#end++] = MINUS;
    const high = Math.floor(left / BILLION);
    if (high > 0) this.#digits(high, countDigits(high));
    this.#digits(left - high * BILLION, high > 0 ? 9 : countDigits(left));
    return true;
  }

  /** Writes the last `count` digits of a number below 2^31. */
  #digits(value: number, count: number): void {
    this.#end += count;
    let left = value | 0;
    for (let at = this.#end - 1; at >= this.#end - count; at--) {
      const rest = (left / 10) | 0;
      this.#bytes[at] = ZERO + left - rest * 10;
      left = rest;
    }
  }

  /** Adds the end of the line and its start, which has the checksum of what follows. */
  #finish(before: number): void {
    this.#text = undefined;
    this.#sum = crc32(this.#bytes.subarray(HEAD, this.#end), before);
    this.#bytes[this.#end++] = LINE_END;
    const end = this.#end;
    this.#start = HEAD - 2 - (this.#sum < BILLION ? countDigits(this.#sum) : 10);
    this.#end = this.#start;
    this.#bytes[this.#end++] = OPEN;
    this.#number(this.#sum);
    this.#bytes[this.#end] = COMMA;
    this.#end = end;
  }
}

/** The line that is being appended, to any journal: nothing of it is used after a call. */
export const LINE = new JournalLine();

/**
 * Appends a line, or a part of one with one char per byte, to a file by one write(2). Returns the number of bytes written.
 * Throws errors of Node.
 */
export function writeLine(fd: number, line: JournalLine | string): number {
  return typeof line === 'string' ? writeSync(fd, line, null, 'latin1') : line.writeTo(fd);
}

/** Of a number below 2^31. */
function countDigits(value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits++;
  return digits;
}
