import type { ExecMemory } from '../../lib/exec-memory.ts';
import { LastBytes } from '../../lib/last-bytes.ts';
import { TextBuffer, textOf } from '../../lib/long-text.ts';
import { endOfCharacters, LONGEST, startOfCharacters } from '../../lib/text-tools/whole-characters.ts';
import { encodedSize } from './encoded-size.ts';
import { firstOf } from './first-bytes.ts';
import type { GatheredText, OutputText } from './output-text.ts';

/**
 * The beginning and the end of an output, of at most `limit` bytes together and of no more than the available memory, with
 * a line between them that tells how many bytes were left out. If only bytes are missing that were no longer known, the
 * line is at the beginning: these were the oldest, except for what was lost while it was read or on a full disk. No UTF-8
 * sequence is divided.
 */
export class OutputEnds implements OutputText {
  readonly #limit: number;
  readonly #memory: ExecMemory;
  readonly #head = new TextBuffer();
  readonly #tail: LastBytes;
  #headIsFull = false;
  #memoryIsFull = false;
  #skipped = 0;
  #lost = 0;
  bytes = 0;

  constructor(limit: number, memory: ExecMemory) {
    this.#limit = limit;
    this.#memory = memory;
    this.#tail = new LastBytes(limit - headOf(limit), (bytes) => this.#grow(bytes));
  }

  append(data: Buffer): number {
    this.bytes += data.length;
    const inHead = this.#headIsFull ? 0 : this.#grow(Math.min(data.length, headOf(this.#limit) - this.#head.bytes));
    if (inHead > 0) this.#head.append(data.subarray(0, inHead));
    if (inHead === data.length) return 0;
    this.#headIsFull = true;
    const lost = this.#tail.append(data.subarray(inHead));
    this.#lost += lost;
    return lost;
  }

  skip(bytes: number): void {
    this.#skipped += bytes;
  }

  get kept(): number {
    return lengthOf(this.#head.chunks) + lengthOf(this.#tail.chunks);
  }

  encoded(): number {
    return encodedSize(this.#head.chunks) + encodedSize(this.#tail.chunks);
  }

  text(room = this.#limit): GatheredText {
    const head = this.#head.chunks;
    const tail = this.#tail.chunks;
    if (this.#lost === 0 && this.bytes <= room) {
      const before = this.#skipped > 0 ? [this.#line(this.#skipped)] : [];
      return { text: textOf([...before, ...head, ...tail]), dropped: this.#skipped };
    }
    // What was lost was between them.
    const all = this.#lost === 0 ? [...head, ...tail] : undefined;
    const beginning = withoutPartialEnd(firstOf(all ?? head, headOf(room)));
    const end = withoutPartialStart(lastOf(all ?? tail, room - headOf(room)));
    const dropped = this.#skipped + this.bytes - lengthOf(beginning) - lengthOf(end);
    const lineEnd = beginning.at(-1)?.at(-1) ?? NEWLINE;
    const between = [...(lineEnd === NEWLINE ? [] : [Buffer.of(NEWLINE)]), this.#line(dropped)];
    return { text: textOf([...beginning, ...between, ...end]), dropped };
  }

  #line(dropped: number): Buffer {
    const why = this.#memoryIsFull ? ': the sandbox has its share of limits.exec_memory_bytes in use' : '';
    return Buffer.from(`[${dropped} bytes left out${why}]\n`);
  }

  #grow(bytes: number): number {
    const granted = this.#memory.grow(bytes);
    if (granted < bytes) this.#memoryIsFull = true;
    return granted;
  }
}

const NEWLINE = 0x0a;

const headOf = (limit: number): number => Math.ceil(limit / 2);

const lengthOf = (chunks: readonly Buffer[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

function lastOf(chunks: readonly Buffer[], bytes: number): Buffer[] {
  const last: Buffer[] = [];
  for (let at = chunks.length - 1, left = bytes; at >= 0 && left > 0; at--) {
    const chunk = chunks[at]!.subarray(-left);
    last.unshift(chunk);
    left -= chunk.length;
  }
  return last;
}

function withoutPartialEnd(chunks: Buffer[]): Buffer[] {
  const end = Buffer.concat(lastOf(chunks, LONGEST));
  return firstOf(chunks, lengthOf(chunks) - end.length + endOfCharacters(end));
}

function withoutPartialStart(chunks: Buffer[]): Buffer[] {
  const start = Buffer.concat(firstOf(chunks, LONGEST));
  return lastOf(chunks, lengthOf(chunks) - startOfCharacters(start));
}
