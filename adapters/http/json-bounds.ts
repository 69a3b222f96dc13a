import { ServiceError } from '../../lib/errors.ts';

/** More than any request needs: its fields bound the rules, paths, labels and variables. */
const MAX_DEPTH = 32;
const MAX_VALUES = 65_536;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Refuses JSON that is expensive to parse. The threat: JSON.parse took 24 s and 900 MB for 30 MB of brackets, and
 * blocked the whole server. One pass over the bytes finds such a body; invalid JSON is left to the parser. The bytes are
 * examined as they arrive, so that a body of megabytes takes no long step at its end.
 */
export class JsonBounds {
  #depth = 0;
  #values = 0;
  #inString = false;
  #escaped = false;

  /** Call with each part of the body, in order. Throws INVALID_ARGUMENT. */
  push(bytes: Uint8Array): void {
    for (let at = this.#inString ? this.#stringEnd(bytes, 0) : 0; at < bytes.length; at++) {
      switch (bytes[at]) {
        case QUOTE:
          at = this.#stringEnd(bytes, at + 1) - 1;
          break;
        case OPEN_ARRAY:
        case OPEN_OBJECT:
          if (++this.#depth > MAX_DEPTH) throw tooCostly(`be nested at most ${MAX_DEPTH} deep`);
          this.#values++;
          break;
        case CLOSE_ARRAY:
        case CLOSE_OBJECT:
          this.#depth--;
          break;
        case COMMA:
          this.#values++;
          break;
      }
      if (this.#values > MAX_VALUES) throw tooCostly(`have at most ${MAX_VALUES} values`);
    }
  }

  /** Returns the position after the string, or the length of the bytes if the string continues in the next part. */
  #stringEnd(bytes: Uint8Array, from: number): number {
    let escaped = this.#escaped;
    let at = from;
    for (; at < bytes.length && (escaped || bytes[at] !== QUOTE); at++) escaped = !escaped && bytes[at] === BACKSLASH;
    this.#escaped = escaped;
    this.#inString = at === bytes.length;
    return at + 1;
  }
}

function tooCostly(allowed: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the request body must ${allowed}`);
}
