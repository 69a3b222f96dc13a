import type { ByteString } from '../byte-string.ts';

/** `[…]`: code points from ranges[2i] to ranges[2i + 1], both inclusive. */
export interface CharacterClass {
  negated: boolean;
  ranges: number[];
}

/** `?` and `*`; any other number is a literal code point. */
export const ANY_ONE = -1;
export const ANY_RUN = -2;

export type Token = number | CharacterClass;

/** One alternative of a component after brace expansion: a plain name or a sequence of tokens. */
export type Alternative =
  | { literal: ByteString; tokens?: undefined }
  | { literal?: undefined; tokens: readonly Token[] };

/** 'deep' is `**`: any number of components, including none. 'deep outside .git': none of them is `.git`. */
export type Component = 'deep' | 'deep outside .git' | readonly Alternative[];
