import { createHmac } from 'node:crypto';
import { prefixOf } from './secret-words.ts';

/** Follows the prefix of a token, or begins the placeholder. */
const MARK = 'pdk';
/** Digits after it: 120 bits. */
const DIGITS = 24;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The placeholders of one sandbox: equal values have the same one, in all its files, and it reveals nothing else of them,
 * not even their length, except a prefix that many tokens share. Only who has the key can tell the value of one by trying.
 */
export class Placeholders {
  readonly #key: Uint8Array;

  /** `key`: 32 random bytes, of this sandbox only. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Consists of letters, digits, `_`, `-` and `.`, so that it needs no quotes in any format. */
  of(value: string): string {
    const digest = createHmac('sha256', this.#key).update(value).digest();
    let digits = '';
    for (let at = 0; at < DIGITS; at++) digits += ALPHABET[digest[at]! & 31];
    return `${prefixOf(value)}${MARK}${digits}`;
  }
}
