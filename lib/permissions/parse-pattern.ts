import { fromText, toText } from '../byte-string.ts';
import type { PatternType } from '../contract/messages.ts';
import { MAX_NAME_BYTES } from '../path-limits.ts';
import { parseComponent } from './parse-component.ts';
import { MAX_PATTERN_BYTES, PatternError } from './pattern-limits.ts';
import { type Alternative, ANY_RUN, type Component } from './tokens.ts';

export interface Pattern {
  components: Component[];
  /** Whether it matches exactly one path. */
  exact: boolean;
  /** Bytes from the codebase root to the first special character. */
  literalPrefix: number;
}

/** More do not make patterns more expressive, and each one multiplies the states of a walk. */
const MAX_DEEP = 16;

/**
 * Parses a pattern. DIRECTORY and FILE patterns are literal: `[id].tsx` is a name there. In a GLOB a backslash escapes
 * the next character; `**` must be a complete component. Throws PatternError.
 */
export function parsePattern(type: PatternType, text: string): Pattern {
  checkText(text);
  const path = text.startsWith('/') ? text.slice(1) : text;
  switch (type) {
    case 'PATTERN_FILE':
      if (path === '' || path.endsWith('/')) throw new PatternError('names a directory, but the type is file');
      return literalPattern(path.split('/'));
    case 'PATTERN_DIRECTORY': {
      const names = path === '' ? [] : path.replace(/\/$/, '').split('/');
      const { components, literalPrefix } = literalPattern(names);
      return { components: [...components, 'deep'], exact: false, literalPrefix };
    }
    case 'PATTERN_GLOB':
      return parseGlob(path);
  }
}

function checkText(text: string): void {
  if (text === '') throw new PatternError('is empty');
  if (text.includes('\0')) throw new PatternError('has a NUL character');
  if (/\p{Surrogate}/u.test(text)) throw new PatternError('has a lone surrogate, which no UTF-8 name can have');
  if (Buffer.byteLength(text) > MAX_PATTERN_BYTES) {
    throw new PatternError(`is longer than ${MAX_PATTERN_BYTES} bytes`);
  }
}

function literalPattern(names: string[]): Pattern {
  const components = names.map((name): Component => literalComponent(name));
  return { components, exact: true, literalPrefix: Buffer.byteLength(names.join('/')) };
}

function literalComponent(name: string): Alternative[] {
  checkName(name);
  return [{ literal: fromText(name) }];
}

function checkName(name: string): void {
  if (name === '') throw new PatternError('has an empty path component (a doubled slash)');
  if (name === '.' || name === '..') throw new PatternError(`has a "${name}" component`);
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new PatternError(`has a name longer than ${MAX_NAME_BYTES} bytes, which no file can have`);
  }
}

function parseGlob(path: string): Pattern {
  if (path === '') throw new PatternError('names only the root; use /** for everything');
  if (path.endsWith('/')) throw new PatternError('ends in a slash; end it in /**, or use the type directory');
  const components: Component[] = [];
  const text = Array.from(path);
  let exact = true;
  let literalPrefix = 0;
  let deep = 0;
  for (let at = 0; at <= text.length; ) {
    const parsed = parseComponent(text, at);
    const alternatives = parsed.alternatives;
    if (exact) literalPrefix += parsed.literalPrefix + (parsed.special || parsed.end === text.length ? 0 : 1);
    if (parsed.special) exact = false;
    if (alternatives === 'deep') {
      // Consecutive `**` are equivalent to one.
      if (components.at(-1) !== 'deep') components.push('deep');
      if (++deep > MAX_DEEP) throw new PatternError(`has more than ${MAX_DEEP} "**"`);
    } else {
      for (const { literal } of alternatives) if (literal !== undefined) checkName(toText(literal));
      components.push(alternatives);
    }
    at = parsed.end + 1;
  }
  return { components, exact, literalPrefix };
}

/** A key that is equal for components that match the same names, so that they share a step. */
export function componentKey(component: Component): string {
  if (component === 'deep') return '**';
  if (component === 'deep outside .git') return '**!';
  return component.map(alternativeKey).join('\0');
}

function alternativeKey(alternative: Alternative): string {
  if (alternative.literal !== undefined) return `=${alternative.literal}`;
  return alternative.tokens
    .map((token) => (typeof token === 'number' ? token : `${token.negated ? '!' : '['}${token.ranges.join('-')}`))
    .join(' ');
}

/** Whether the component is `*`. */
export function isAnyName(alternative: Alternative): boolean {
  return alternative.tokens?.length === 1 && alternative.tokens[0] === ANY_RUN;
}
