import { createHmac } from 'node:crypto';
import { prefixOf } from './secret-words.ts';

/** What placeholders of a file are made by. */
export interface BoundPlaceholders {
  /** Of a word of the text between values. */
  of(value: string): string;
  /** Of a value at a key, with its index among the values at that key. */
  at(value: string, key: string, place: number): string;
}

/** Follows the prefix of a token, or begins the placeholder. */
const MARK = 'pdk';
/** Digits after it: 120 bits. */
const DIGITS = 24;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
/** Anywhere in a text, without the prefix. */
export const ANY_PLACEHOLDER = /pdk[a-z2-7]{24}/g;
const PLACEHOLDER = /^([A-Za-z0-9_.-]{0,40})pdk[a-z2-7]{24}$/;

/** Whether a text has the form of a placeholder of any sandbox. */
export function isPlaceholder(text: string): boolean {
  const [, prefix] = PLACEHOLDER.exec(text) ?? [];
  return prefix !== undefined && prefix === prefixOf(text);
}

/**
 * The placeholders of one sandbox: equal values have the same one, in all its files, and it reveals nothing else of them,
 * not even their length, except a prefix that many tokens share. Only who has the key can tell the value of one by trying.
 */
export class Placeholders implements BoundPlaceholders {
  readonly #key: Uint8Array;

  /** `key`: 32 random bytes, of this sandbox only. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /**
   * Placeholders that depend on their key, too, and on how many values the file has at that key before: a value that the
   * agent writes at another place, and a commit makes one of the codebase, does not get the placeholder of an equal secret.
   */
  readonly bound: BoundPlaceholders = { of: (value) => this.of(value, 'text'), at: (...at) => this.#at(...at) };

  #at(value: string, key: string, place: number): string {
    return this.of(value, `${place} ${key}`);
  }

  /** Not bound to a key. */
  at(value: string): string {
    return this.of(value);
  }

  /** Consists of letters, digits, `_`, `-` and `.`, so that it needs no quotes in any format. */
  of(value: string, context?: string): string {
    const mac = createHmac('sha256', this.#key);
    // Of another key: a value cannot contain its context.
    if (context !== undefined) mac.update(createHmac('sha256', this.#key).update(`bound ${context}`).digest());
    const digest = mac.update(value).digest();
    let digits = '';
    for (let at = 0; at < DIGITS; at++) digits += ALPHABET[digest[at]! & 31];
    return `${prefixOf(value)}${MARK}${digits}`;
  }
}
