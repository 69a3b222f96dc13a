import { isConstant, joinKeys, placeOf, type Span } from './span.ts';

/** Tokens in one step. */
const TOKENS_PER_STEP = 128;
const MAX_DEPTH = 512;
/** Of the names in a key, the innermost. */
const MAX_NAMES = 32;
const BARE = /[A-Za-z0-9+.-]+/y;
const SPACE = /[ \t\r\n]+/y;

/** An object or array that is open. */
interface Container {
  isObject: boolean;
  /** Of the object's present member, or the index in the array. */
  key: string;
  index: number;
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/**
 * JSON, also with comments and with a comma behind the last member. Strings and numbers that are no keys are values; a
 * placeholder is always a string.
 */
export function* jsonValues(text: string): Generator<undefined, Span[] | undefined, void> {
  const spans: Span[] = [];
  const stack: Container[] = [];
  let expected: Expected = 'value';
  let tokens = 0;
  const after = (): Expected => (stack.length === 0 ? 'nothing' : 'comma or end');
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; ) {
    if (++tokens % TOKENS_PER_STEP === 0) yield;
    const skipped = skipSpace(text, at);
    if (skipped !== at) {
      if (skipped === -1) return undefined;
      at = skipped;
      continue;
    }
    const char = text[at]!;
    const top = stack.at(-1);
    const isValue = expected === 'value' || expected === 'value or end';
    if (char === '{' || char === '[') {
      if (!isValue || stack.length === MAX_DEPTH) return undefined;
      stack.push({ isObject: char === '{', key: '', index: 0 });
      expected = char === '{' ? 'key or end' : 'value or end';
      at++;
    } else if (char === '}' || char === ']') {
      const mayEnd = expected === 'comma or end' || expected === (char === '}' ? 'key or end' : 'value or end');
      if (!mayEnd || top?.isObject !== (char === '}')) return undefined;
      stack.pop();
      expected = after();
      at++;
    } else if (char === ',') {
      if (expected !== 'comma or end' || top === undefined) return undefined;
      top.index++;
      expected = top.isObject ? 'key or end' : 'value or end';
      at++;
    } else if (char === ':') {
      if (expected !== 'colon') return undefined;
      expected = 'value';
      at++;
    } else {
      const end = char === '"' ? endOfString(text, at) : endOfBare(text, at);
      const value = end === undefined ? undefined : textOf(text.slice(at, end));
      if (end === undefined || value === undefined) return undefined;
      if (isValue) {
        const isShown = char !== '"' && isConstant(value);
        if (!isShown) {
          const names = namesOf(stack);
          const [key, place] = [joinKeys(names), placeOf(names)];
          spans.push({ start: at, end, key, place, value, before: '"', after: '"' });
        }
        expected = after();
      } else if ((expected === 'key' || expected === 'key or end') && char === '"' && top !== undefined) {
        top.key = value;
        expected = 'colon';
      } else return undefined;
      at = end;
    }
  }
  return expected === 'nothing' ? spans : undefined;
}

/** Behind white space or a comment at `at`; -1 for a comment without an end. */
function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  if (SPACE.test(text)) return SPACE.lastIndex;
  if (text[at] !== '/') return at;
  if (text[at + 1] === '/') {
    const end = text.indexOf('\n', at);
    return end === -1 ? text.length : end;
  }
  const end = text[at + 1] === '*' ? text.indexOf('*/', at + 2) : -1;
  return end === -1 ? -1 : end + 2;
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return undefined;
    if (code === 0x5c) at++;
  }
  return undefined;
}

function endOfBare(text: string, start: number): number | undefined {
  BARE.lastIndex = start;
  return BARE.test(text) ? BARE.lastIndex : undefined;
}

/** undefined: a string with an invalid escape. */
function textOf(source: string): string | undefined {
  if (!source.startsWith('"')) return source;
  try {
    return JSON.parse(source) as string;
  } catch {
    return undefined;
  }
}

function namesOf(stack: readonly Container[]): (string | number)[] {
  return stack.slice(-MAX_NAMES).map(({ isObject, key, index }) => (isObject ? key : index));
}
