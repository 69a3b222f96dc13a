import { type ByteString, toBuffer } from '../byte-string.ts';
import { ANY_ONE, ANY_RUN, type CharacterClass, type Token } from './tokens.ts';

/**
 * A name as the units matched by `?` and `[…]`: code points if it is valid UTF-8; otherwise its bytes, with those above
 * 0x7f mapped outside of Unicode so that none equals a character.
 */
export interface Units {
  units: readonly number[];
  valid: boolean;
}

const NOT_UNICODE = 0x110000;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function unitsOf(name: ByteString): Units {
  const bytes = toBuffer(name);
  try {
    const characters = Array.from(decoder.decode(bytes), (character) => character.codePointAt(0) as number);
    return { units: characters, valid: true };
  } catch {
    return { units: Array.from(bytes, byteUnit), valid: false };
  }
}

function byteUnit(byte: number): number {
  return byte < 0x80 ? byte : NOT_UNICODE + byte;
}

/**
 * Matches one alternative of a component. The time is at most name × pattern for any input: only the last `*` is
 * backtracked, which is sufficient because every other token matches exactly one unit.
 */
export class ComponentMatcher {
  readonly #tokens: readonly Token[];
  #byteTokens: readonly Token[] | undefined;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  matches(name: Units): boolean {
    if (name.valid) return matchTokens(this.#tokens, name.units);
    this.#byteTokens ??= this.#tokens.flatMap(asBytes);
    return matchTokens(this.#byteTokens, name.units);
  }
}

function asBytes(token: Token): Token[] {
  if (typeof token !== 'number' || token < 0x80) return [token];
  return Array.from(Buffer.from(String.fromCodePoint(token)), byteUnit);
}

function matchTokens(tokens: readonly Token[], units: readonly number[]): boolean {
  // Every token but `*` matches one unit, so a pattern longer than the name cannot match.
  if (tokens.length > units.length && tokens.filter((token) => token !== ANY_RUN).length > units.length) return false;
  let token = 0;
  let unit = 0;
  let runToken = -1;
  let runUnit = 0;
  while (unit < units.length) {
    const expected = tokens[token];
    if (expected === ANY_RUN) {
      runToken = token++;
      runUnit = unit;
    } else if (expected !== undefined && matchesOne(expected, units[unit] as number)) {
      token++;
      unit++;
    } else if (runToken >= 0) {
      token = runToken + 1;
      unit = ++runUnit;
    } else {
      return false;
    }
  }
  while (tokens[token] === ANY_RUN) token++;
  return token === tokens.length;
}

function matchesOne(token: Token, unit: number): boolean {
  if (typeof token === 'number') return token === ANY_ONE || token === unit;
  return inClass(token, unit) !== token.negated;
}

function inClass({ ranges }: CharacterClass, unit: number): boolean {
  for (let i = 0; i < ranges.length; i += 2) {
    if (unit >= (ranges[i] as number) && unit <= (ranges[i + 1] as number)) return true;
  }
  return false;
}
