import type { Needle } from './needle.ts';

/** What stands for what. */
export interface Replacement {
  from: Needle;
  /** undefined: `from` must not pass. */
  to: Buffer | undefined;
  /** The secret. */
  name: string;
}

/** Something that must not pass was found. */
export class FoundError extends Error {
  readonly secret: string;

  constructor(secret: string) {
    super('a placeholder must not be sent there');
    this.secret = secret;
  }
}

/** More would be put in than a request may grow by. */
export class TooLongError extends Error {
  constructor() {
    super('the placeholders in the request stand for more bytes than a request may grow by');
  }
}

/** Bytes of a step, by the number of texts that they are searched for. */
const [LEAST_STEP, MOST_STEP, STEP_WORK] = [1024, 65_536, 2_097_152];

/**
 * Replaces texts in a stream of bytes, also those that are split across chunks. Only bytes that may be the beginning of
 * such a text are held back, so that a stream of events is not delayed.
 */
export class Replacer {
  readonly #replacements: readonly Replacement[];
  readonly #mostAdded: number;
  #added = 0;
  #held: Buffer = Buffer.alloc(0);

  /** `mostAdded`: bytes by which what passes may become longer. */
  constructor(replacements: readonly Replacement[], mostAdded = Number.POSITIVE_INFINITY) {
    this.#replacements = replacements;
    this.#mostAdded = mostAdded;
  }

  /** Bytes of a chunk that are searched in one step, which takes some milliseconds at most for usual texts. */
  get stepBytes(): number {
    return Math.min(MOST_STEP, Math.max(LEAST_STEP, Math.floor(STEP_WORK / this.#replacements.length)));
  }

  /** Whether the length of what passes can change. */
  get changesLength(): boolean {
    return this.#replacements.some(({ from, to }) => to !== undefined && to.length !== from.bytes.length);
  }

  /** Throws FoundError, with nothing of what was found returned, or TooLongError, with nothing copied. */
  push(chunk: Buffer): Buffer {
    const input = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const { output, rest, keep } = this.#replace(input, false);
    this.#held = rest.subarray(rest.length - keep);
    output.push(rest.subarray(0, rest.length - keep));
    return output.length === 1 ? output[0]! : Buffer.concat(output);
  }

  /** Throws as `push` does. */
  end(): Buffer {
    const last = this.#held;
    this.#held = Buffer.alloc(0);
    const { output, rest } = this.#replace(last, true);
    return Buffer.concat([...output, rest]);
  }

  /** Bytes at the end that may be the beginning of a text. */
  #begunIn(bytes: Buffer): number {
    return Math.max(0, ...this.#replacements.map(({ from }) => from.begunIn(bytes)));
  }

  whole(bytes: Buffer): Buffer {
    return Buffer.concat([this.push(bytes), this.end()]);
  }

  /**
   * `isEnd`: nothing follows. Otherwise a text that is found within the beginning of a longer one waits: the longer one may
   * become complete, and what it has more would show. `keep`: bytes at the end of `rest` that may be the beginning of a text.
   */
  #replace(input: Buffer, isEnd: boolean): { output: Buffer[]; rest: Buffer; keep: number } {
    const output: Buffer[] = [];
    const next = this.#replacements.map(({ from }) => from.indexIn(input, 0));
    let start = 0;
    let begun = isEnd ? input.length : input.length - this.#begunIn(input);
    const done = () => ({ output, rest: input.subarray(start), keep: input.length - begun });
    for (;;) {
      let first = -1;
      for (const [index, at] of next.entries()) {
        if (at >= 0 && at < start) next[index] = this.#replacements[index]!.from.indexIn(input, start);
        if (next[index]! >= 0 && (first < 0 || next[index]! < next[first]!)) first = index;
      }
      if (first < 0) return done();
      const { from, to, name } = this.#replacements[first]!;
      if (next[first]! >= begun) return done();
      if (to === undefined) throw new FoundError(name);
      this.#added += to.length - from.bytes.length;
      if (this.#added > this.#mostAdded) throw new TooLongError();
      output.push(input.subarray(start, next[first]!), to);
      start = next[first]! + from.bytes.length;
      if (!isEnd && start > begun) begun = input.length - this.#begunIn(input.subarray(start));
    }
  }
}
