import { randomBytes, randomInt } from 'node:crypto';
import { invalidArgument } from '../../errors.ts';

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const UPPER_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Fewer random characters could be guessed, or occur in other data. */
const LEAST_RANDOM = 16;
const USUAL_RANDOM = 32;

/** Random characters after the beginnings of well-known kinds of tokens. */
const RANDOM_AFTER: Readonly<Record<string, number>> = {
  AIza: 35,
  AKIA: 16,
  ASIA: 16,
  'sk-': 48,
  'sk-ant-': 95,
  'sk-proj-': 48,
  sk_live_: 24,
  sk_test_: 24,
  rk_live_: 24,
  ghp_: 36,
  gho_: 36,
  ghs_: 36,
  ghu_: 36,
  github_pat_: 82,
  'glpat-': 20,
  hf_: 34,
  npm_: 36,
  'pypi-': 171,
  'xoxb-': 51,
  'xoxp-': 72,
};

/** The source of the regular expression of a shape: characters that no encoding of a URL, of JSON or of a form changes. */
export const SHAPE = '[A-Za-z0-9_-]{0,64}';

export interface PlaceholderForm {
  name: string;
  /** What it begins with; '': the usual form. */
  shape: string;
  /** Bytes that it must have; undefined: those of its form. */
  length?: number | undefined;
}

/** Throws INVALID_ARGUMENT if the length leaves too few random characters. */
export function checkForm({ shape, length }: PlaceholderForm): void {
  if (length === undefined || length >= shape.length + LEAST_RANDOM) return;
  throw invalidArgument('keep_length', `needs a value that is at least ${LEAST_RANDOM} bytes longer than the shape`);
}

/** A new placeholder: it cannot be guessed, and is not part of any other one. */
export function newPlaceholder(form: PlaceholderForm): string {
  checkForm(form);
  const { name, shape, length } = form;
  if (shape === '' && length === undefined) return `pdk_secret_${name}_${randomBytes(8).toString('hex')}`;
  const count = length === undefined ? (RANDOM_AFTER[shape] ?? USUAL_RANDOM) : length - shape.length;
  const alphabet = /^[A-Z]+$/.test(shape) ? UPPER_AND_DIGITS : LETTERS_AND_DIGITS;
  return shape + Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('');
}
