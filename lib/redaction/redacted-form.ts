import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Redactor } from '../permissions/redactors.ts';
import { dotenvValues } from './dotenv.ts';
import { gitConfigValues } from './git-config.ts';
import { iniValues } from './ini.ts';
import { jsonValues } from './json.ts';
import { netrcValues } from './netrc.ts';
import { pemValues } from './pem.ts';
import type { BoundPlaceholders } from './placeholders.ts';
import { looksSecret, looksSecretInAddress } from './secret-words.ts';
import type { FindValues, Span } from './span.ts';
import { tokenValues } from './tokens.ts';
import { yamlValues } from './yaml.ts';

/** Largest file in bytes that is looked at. */
export const MAX_REDACTED_BYTES = 1 << 20;
/** Of YAML, whose parser needs more time and memory for each byte. */
const MAX_YAML_BYTES = 256 * 1024;
const MAX_VALUES = 50_000;
/** Values for which placeholders are made in one step. */
const VALUES_PER_STEP = 32;
/** Characters of keys and comments searched for secrets in one step. */
const SEARCHED_PER_STEP = 8192;
/** Values of fewer characters are ordinary words, too. */
const SHORTEST_SECRET = 8;

/** What is shown of a file whose values cannot be told from the rest. */
const HIDDEN = Buffer.from('# hidden\n');

/** A value that a placeholder replaces. */
export interface Replaced {
  key: string;
  /** See `Span.place`. */
  place: string;
  value: string;
  placeholder: string;
}

/** A file with placeholders. */
export interface RedactedForm {
  readonly bytes: Buffer;
  /** Differs whenever the bytes differ. */
  readonly version: string;
  /** In the order of the file; empty for a file that is hidden as a whole. */
  readonly replaced: readonly Replaced[];
  readonly isHidden: boolean;
}

const FINDERS: Readonly<Record<Redactor, FindValues>> = {
  dotenv: dotenvValues,
  json: jsonValues,
  yaml: yamlValues,
  ini: iniValues,
  netrc: netrcValues,
  pem: pemValues,
  gitconfig: gitConfigValues,
  tokens: tokenValues,
  // biome-ignore lint/correctness/useYield: a generator, as the others are.
  *all() {
    return undefined;
  },
};

/** The form of a file that cannot be looked at, or that nothing may be shown of. */
export const HIDDEN_FORM: RedactedForm = formOf(HIDDEN, [], true);
/** The form of an empty file, in which there is nothing to hide. */
export const EMPTY_FORM: RedactedForm = formOf(Buffer.alloc(0), [], false);

/**
 * Replaces the values of a file by placeholders, in steps of a fraction of a millisecond. A file that is too large, not
 * valid UTF-8, or not of the redactor's format is hidden as a whole.
 */
export function* redacting(
  contents: Buffer,
  redactor: Redactor,
  placeholders: BoundPlaceholders,
): Generator<undefined, RedactedForm, void> {
  if (contents.length === 0) return EMPTY_FORM;
  const found = yield* findingValues(contents, redactor);
  if (found === undefined) return HIDDEN_FORM;
  const pieces = yield* piecesOf(found, placeholders);
  const replaced = pieces.flatMap(({ value }) => value ?? []);
  return formOf(Buffer.from(pieces.map(({ shown }) => shown).join(''), 'utf8'), replaced, false);
}

/** A text and its values; undefined: nothing of it may be shown. */
export interface FoundValues {
  text: string;
  spans: readonly Span[];
  /** What separates the parts of a word in the text between values, each of which may be a secret. undefined: none is. */
  divider: RegExp | undefined;
}

const COLON = /:/;
/** Addresses are shown in the configuration of git, and are not secret as a whole. */
const IN_ADDRESS = /[:/@&=]/;

/** Their values are all that is secret: the words between are no others, and certificates look like tokens. */
const COMPLETE: readonly Redactor[] = ['pem', 'tokens'];

/** Finds the values of a file, in steps. */
export function* findingValues(
  contents: Buffer,
  redactor: Redactor,
): Generator<undefined, FoundValues | undefined, void> {
  if (contents.length > (redactor === 'yaml' ? MAX_YAML_BYTES : MAX_REDACTED_BYTES)) return undefined;
  if (redactor === 'all' || !isUtf8(contents)) return undefined;
  const text = contents.toString('utf8');
  yield;
  const spans = yield* FINDERS[redactor](text);
  if (spans === undefined || spans.length > MAX_VALUES) return undefined;
  const divider = redactor === 'gitconfig' ? IN_ADDRESS : COLON;
  return { text, spans, divider: COMPLETE.includes(redactor) ? undefined : divider };
}

function formOf(bytes: Buffer, replaced: readonly Replaced[], isHidden: boolean): RedactedForm {
  return { bytes, replaced, isHidden, version: createHash('sha256').update(bytes).digest('hex').slice(0, 32) };
}

/** A part of a file: a value, or what is between two of them. Those between and the values alternate. */
export interface Piece {
  raw: string;
  shown: string;
  value?: Replaced;
}

/** The parts of a file, in steps: placeholders are in place of the values, and of secrets in keys and comments. */
export function* piecesOf(
  { text, spans, divider }: FoundValues,
  placeholders: BoundPlaceholders,
): Generator<undefined, Piece[], void> {
  const secrets = new Set<string>();
  for (const { value } of spans) if (value.length >= SHORTEST_SECRET) secrets.add(value);
  const places = new Map<string, number>();
  const pieces: Piece[] = [];
  let at = 0;
  let searched = 0;
  for (const [index, { start, end, before, after, key, place, value }] of spans.entries()) {
    const raw = text.slice(at, start);
    pieces.push({ raw, shown: yield* withoutSecrets(raw, { secrets, divider }, placeholders) });
    const nth = places.get(key) ?? 0;
    places.set(key, nth + 1);
    const placeholder = placeholders.at(value, key, nth);
    pieces.push({
      raw: text.slice(start, end),
      shown: `${before}${placeholder}${after}`,
      value: { key, place, value, placeholder },
    });
    searched += start - at + 64;
    if (index % VALUES_PER_STEP === 0 || searched > SEARCHED_PER_STEP) {
      searched = 0;
      yield;
    }
    at = end;
  }
  const raw = text.slice(at);
  pieces.push({ raw, shown: yield* withoutSecrets(raw, { secrets, divider }, placeholders) });
  return pieces;
}

interface Words extends Pick<FoundValues, 'divider'> {
  secrets: ReadonlySet<string>;
}

const WORD = /[^\s"'`=,;(){}[\]<>]+/g;
/** Longer words are no words. */
const MAX_WORD = 512;

/** Keys and comments in which words that are a value, or look like a token, are replaced. */
function* withoutSecrets(
  shown: string,
  words: Words,
  placeholders: BoundPlaceholders,
): Generator<undefined, string, void> {
  const { secrets, divider } = words;
  if (shown.length < SHORTEST_SECRET || divider === undefined) return shown;
  const parts: string[] = [];
  let at = 0;
  let searched = 0;
  for (const { 0: word, index } of shown.matchAll(WORD)) {
    if (index - searched > SEARCHED_PER_STEP) {
      searched = index;
      yield;
    }
    for (const [from, part] of partsOf(word, secrets, divider)) {
      parts.push(shown.slice(at, index + from), placeholders.of(part));
      at = index + from + part.length;
    }
  }
  return parts.length === 0 ? shown : parts.join('') + shown.slice(at);
}

/** The words between values that are hidden if they are a value. Words that are hidden whatever they are may be missing. */
export function* wordsOf({ text, spans, divider }: FoundValues): Generator<undefined, Set<string>, void> {
  const words = new Set<string>();
  if (divider === undefined) return words;
  let at = 0;
  let searched = 0;
  for (const { start, end } of [...spans, { start: text.length, end: text.length }]) {
    for (const { 0: word, index } of text.slice(at, start).matchAll(WORD)) {
      if (at + index - searched > SEARCHED_PER_STEP) {
        searched = at + index;
        yield;
      }
      if (word.length < SHORTEST_SECRET || word.length > MAX_WORD) continue;
      for (const part of [word, ...word.split(divider)]) if (part.length >= SHORTEST_SECRET) words.add(part);
    }
    at = end;
  }
  return words;
}

/** The parts of a word that must not be shown, with their positions: all of it, or what is between dividers. */
function partsOf(word: string, secrets: ReadonlySet<string>, divider: RegExp): [from: number, part: string][] {
  if (word.length < SHORTEST_SECRET) return [];
  if (word.length > MAX_WORD || secrets.has(word)) return [[0, word]];
  // Where addresses are shown, their users and passwords are values.
  if (divider === COLON && mayHaveCredentials(word)) return [[0, word]];
  const found: [number, string][] = [];
  const looks = divider === COLON ? looksSecret : looksSecretInAddress;
  let from = 0;
  for (const part of word.split(divider)) {
    if (part.length >= SHORTEST_SECRET && (secrets.has(part) || looks(part))) found.push([from, part]);
    from += part.length + 1;
  }
  return found;
}

/** A user and a password in a URL. */
function mayHaveCredentials(word: string): boolean {
  const scheme = word.indexOf('://');
  return scheme !== -1 && word.includes('@', scheme);
}
