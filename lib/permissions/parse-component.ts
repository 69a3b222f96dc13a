import { fromText } from '../byte-string.ts';
import { MAX_ALTERNATIVES, PatternError } from './pattern-limits.ts';
import { type Alternative, ANY_ONE, ANY_RUN, type CharacterClass, type Token } from './tokens.ts';

/**
 * A backslash before any other character is refused: `docs\secrets` is a mistake, and reading it as `docssecrets` would
 * leave the intended path unprotected.
 */
const ESCAPABLE = new Set(['*', '?', '[', ']', '{', '}', ',', '\\', '-', '!', '^']);

interface Parsed {
  alternatives: 'deep' | readonly Alternative[];
  /** Index of the slash after the component, or the end of the text. */
  end: number;
  /** Whether it contains a special character. */
  special: boolean;
  /** Bytes before the first special character. */
  literalPrefix: number;
}

/** Parses the glob component that starts at `at`. `text`: the pattern's code points. Throws PatternError. */
export function parseComponent(text: readonly string[], at: number): Parsed {
  if (text[at] === '*' && text[at + 1] === '*' && (text[at + 2] ?? '/') === '/') {
    return { alternatives: 'deep', end: at + 2, special: true, literalPrefix: 0 };
  }
  const scanner = new Scanner(text, at);
  const spellings = scanner.sequence(0);
  const special = scanner.prefix !== undefined;
  const prefix = scanner.prefix ?? literalText(spellings[0] ?? []);
  const alternatives = spellings.filter((tokens) => tokens.length > 0 || !special).map(alternativeOf);
  if (alternatives.length === 0) throw new PatternError('has a component that matches no name');
  return { alternatives, end: scanner.at, special, literalPrefix: Buffer.byteLength(prefix) };
}

function alternativeOf(tokens: Token[]): Alternative {
  const plain = tokens.every((token) => typeof token === 'number' && token >= 0);
  return plain ? { literal: fromText(literalText(tokens)) } : { tokens };
}

function literalText(tokens: readonly Token[]): string {
  return tokens.map((token) => (typeof token === 'number' ? String.fromCodePoint(token) : '')).join('');
}

class Scanner {
  at: number;
  /** The text before the first special character; undefined: none found yet. */
  prefix: string | undefined;
  readonly #text: readonly string[];

  constructor(text: readonly string[], at: number) {
    this.#text = text;
    this.at = at;
  }

  /** Parses up to a slash or, inside braces, up to `,` or `}`; returns all alternatives. */
  sequence(depth: number): Token[][] {
    let spellings: Token[][] = [[]];
    for (;;) {
      const char = this.#text[this.at];
      if (char === undefined || char === '/') {
        if (depth === 0) return spellings;
        throw new PatternError(
          char === '/' ? 'has a slash inside {…}, which stays within one path component' : 'has an unclosed "{"',
        );
      }
      if (depth > 0 && (char === ',' || char === '}')) return spellings;
      if (char === '{') {
        this.#special(spellings);
        spellings = multiply(spellings, this.#braces(depth + 1));
        continue;
      }
      const token = this.#token(char, spellings);
      for (const tokens of spellings) {
        if (token !== ANY_RUN || tokens.at(-1) !== ANY_RUN) tokens.push(token);
      }
    }
  }

  #token(char: string, spellings: Token[][]): Token {
    this.at++;
    switch (char) {
      case '*':
        this.#special(spellings);
        if (this.#text[this.at] === '*') {
          throw new PatternError('has a "**" beside other characters; it must stand alone between slashes');
        }
        return ANY_RUN;
      case '?':
        this.#special(spellings);
        return ANY_ONE;
      case '[':
        this.#special(spellings);
        return this.#class();
      case '}':
        throw new PatternError('has a "}" without "{"; write \\} for the character itself');
      case '\\':
        return this.#escaped();
      default:
        return codePoint(char);
    }
  }

  #special(spellings: Token[][]): void {
    this.prefix ??= literalText(spellings[0] ?? []);
  }

  #escaped(): number {
    const char = this.#text[this.at++];
    if (char === undefined) throw new PatternError('ends in a backslash');
    if (!ESCAPABLE.has(char)) {
      throw new PatternError(`has "\\${char}"; a backslash may only stand before one of ${[...ESCAPABLE].join(' ')}`);
    }
    return codePoint(char);
  }

  #braces(depth: number): Token[][] {
    // Each nested brace is one level of recursion, so the depth is limited to protect the stack.
    if (depth > 16) throw new PatternError('nests {…} more than 16 deep');
    const alternatives: Token[][] = [];
    let count = 0;
    do {
      this.at++;
      alternatives.push(...this.sequence(depth));
      if (alternatives.length > MAX_ALTERNATIVES) throw tooMany();
      count++;
    } while (this.#text[this.at] === ',');
    this.at++;
    if (count < 2) throw new PatternError('has {…} without a comma; write \\{ and \\} for the characters themselves');
    return alternatives;
  }

  #class(): CharacterClass {
    const negated = this.#text[this.at] === '!' || this.#text[this.at] === '^';
    if (negated) this.at++;
    const ranges: number[] = [];
    for (let first = true; first || this.#text[this.at] !== ']'; first = false) {
      const low = this.#classChar();
      const isRange = this.#text[this.at] === '-' && (this.#text[this.at + 1] ?? ']') !== ']';
      if (isRange) this.at++;
      const high = isRange ? this.#classChar() : low;
      if (high < low) throw new PatternError('has a range in […] that runs backwards');
      ranges.push(low, high);
    }
    this.at++;
    return { negated, ranges };
  }

  #classChar(): number {
    const char = this.#text[this.at++];
    if (char === undefined) throw new PatternError('has an unclosed "["');
    if (char === '/') throw new PatternError('has a slash inside […], or an unclosed "["');
    const next = this.#text[this.at];
    if (char === '[' && (next === ':' || next === '.' || next === '=')) {
      throw new PatternError(`has "[${next}" inside […], which is not supported`);
    }
    return char === '\\' ? this.#escaped() : codePoint(char);
  }
}

function multiply(heads: Token[][], tails: Token[][]): Token[][] {
  if (heads.length * tails.length > MAX_ALTERNATIVES) throw tooMany();
  return heads.flatMap((head) => tails.map((tail) => [...head, ...tail]));
}

function tooMany(): PatternError {
  return new PatternError(`has {…} that multiply out to more than ${MAX_ALTERNATIVES} alternatives`);
}

function codePoint(char: string): number {
  return char.codePointAt(0) as number;
}
