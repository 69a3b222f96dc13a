import type { ExecMemory } from '../../lib/exec-memory.ts';
import { type Text, TextBuffer, textOf } from '../../lib/long-text.ts';
import { encodedSize } from './encoded-size.ts';
import { firstOf } from './first-bytes.ts';

/** A text, and the number of bytes of the output that it does not have. */
export interface GatheredText {
  text: Text;
  dropped: number;
}

/** Gathers the part of an output that an answer has: U+FFFD for bytes that are not UTF-8. */
export interface OutputText {
  /** Bytes that were appended. */
  readonly bytes: number;
  /** Bytes of those that are kept. */
  readonly kept: number;
  /** Bytes that the kept ones have in an answer, or more: see `encodedSize`. */
  encoded(): number;
  /** Returns the number of bytes, of `data` or of earlier ones, that were dropped. */
  append(data: Buffer): number;
  /** Counts bytes that are no longer known. Where they were among those that are appended is not known either. */
  skip(bytes: number): void;
  /** At most `room` of the kept bytes, and the line that reports what was left out; absent: up to the limit. Call last. */
  text(room?: number): GatheredText;
}

/** The beginning of an output, up to a limit and to the available memory, with a last line that reports a cut. */
export class CutText implements OutputText {
  readonly #limit: number;
  readonly #memory: ExecMemory;
  readonly #kept = new TextBuffer();
  /** Set once output was omitted; further output is omitted, too. */
  #cut: 'limit' | 'memory' | undefined;
  #dropped = 0;
  bytes = 0;

  constructor(limit: number, memory: ExecMemory) {
    this.#limit = limit;
    this.#memory = memory;
  }

  append(data: Buffer): number {
    this.bytes += data.length;
    if (this.#cut !== undefined) {
      this.#dropped += data.length;
      return data.length;
    }
    const room = Math.min(data.length, this.#limit - this.#kept.bytes);
    const kept = this.#memory.grow(room);
    if (kept < room) this.#cut = 'memory';
    else if (room < data.length) this.#cut = 'limit';
    if (kept > 0) this.#kept.append(kept < data.length ? data.subarray(0, kept) : data);
    this.#dropped += data.length - kept;
    return data.length - kept;
  }

  skip(bytes: number): void {
    this.#dropped += bytes;
  }

  get kept(): number {
    return this.#kept.bytes;
  }

  encoded(): number {
    return encodedSize(this.#kept.chunks);
  }

  text(room = this.kept): GatheredText {
    const { kept } = this;
    const length = Math.min(room, kept);
    const dropped = this.#dropped + kept - length;
    if (length === kept && this.#cut === undefined) return { text: this.#kept.text(), dropped };
    // A partial character at the cut is omitted.
    const end = `[output cut at ${length} bytes${this.#why(length)}]\n`;
    return { text: textOf(firstOf(this.#kept.chunks, length), end), dropped };
  }

  #why(length: number): string {
    if (length < this.kept) return ': more does not fit into the answer';
    return this.#cut === 'memory' ? ': the sandbox has its share of limits.exec_memory_bytes in use' : '';
  }
}
