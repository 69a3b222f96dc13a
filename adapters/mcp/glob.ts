import { invalidArgument } from '../../lib/errors.ts';

const MAX_LENGTH = 1000;
const MAX_ALTERNATIVES = 64;

/** Matches one part of a path. */
type Part = '**' | readonly Token[];
/** A character, `?` or `*`, or a class of characters. */
type Token = { kind: 'char'; char: string } | { kind: 'one' } | { kind: 'run' } | Class;
interface Class {
  kind: 'class';
  negated: boolean;
  ranges: readonly (readonly [string, string])[];
}

export type Glob = (path: string) => boolean;

/**
 * Compiles a pattern of `*`, `?`, `[…]`, `{a,b}` and `**` for paths without a leading slash; names that begin with a dot are
 * no exception. The threat: a caller's pattern that blocks the server. Only the last `*` of a name and the last `**` are
 * backtracked, so the time is at most pattern × path, unlike that of a regular expression.
 */
export function glob(pattern: string, name: string): Glob {
  if (pattern.length > MAX_LENGTH) throw invalidArgument(name, `must have at most ${MAX_LENGTH} characters`);
  const alternatives = braces(pattern, name).map((each) => partsOf(each.replace(/^\.?\//, '')));
  return (path) => {
    const names = path.split('/').map((each) => [...each]);
    return alternatives.some((parts) => matchesPath(parts, names));
  };
}

/** Expands the first `{a,b}` that has a comma, and those after it. */
function braces(pattern: string, name: string): string[] {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (!found) return [pattern];
  const [all, inner] = found as unknown as [string, string];
  const choices = inner.split(',');
  const spelled = choices.flatMap((choice) =>
    braces(pattern.slice(0, found.index) + choice + pattern.slice(found.index + all.length), name).slice(
      0,
      MAX_ALTERNATIVES,
    ),
  );
  if (spelled.length >= MAX_ALTERNATIVES)
    throw invalidArgument(name, `must have fewer than ${MAX_ALTERNATIVES} alternatives`);
  return spelled;
}

/** `a/**` is what is below `a`, without `a` itself. */
function partsOf(pattern: string): Part[] {
  const names = pattern.split('/');
  const isBelow = names.length > 1 && names.at(-1) === '**';
  return (isBelow ? [...names.slice(0, -1), '*', '**'] : names).map(partOf);
}

function partOf(text: string): Part {
  if (text === '**') return '**';
  const chars = [...text];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    const end = char === '[' ? chars.indexOf(']', at + 2) : -1;
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'run') tokens.push({ kind: 'run' });
    } else if (char === '?') tokens.push({ kind: 'one' });
    else if (end > 0) {
      tokens.push(classOf(chars.slice(at + 1, end)));
      at = end;
    } else tokens.push({ kind: 'char', char });
  }
  return tokens;
}

function classOf(chars: readonly string[]): Class {
  const negated = chars[0] === '!' || chars[0] === '^';
  const ranges: [string, string][] = [];
  for (let at = negated ? 1 : 0; at < chars.length; at++) {
    const isRange = chars[at + 1] === '-' && at + 2 < chars.length;
    ranges.push([chars[at]!, chars[isRange ? at + 2 : at]!]);
    if (isRange) at += 2;
  }
  return { kind: 'class', negated, ranges };
}

function matchesPath(parts: readonly Part[], names: readonly (readonly string[])[]): boolean {
  return matchesAll(
    parts,
    names,
    (part) => part === '**',
    (part, name) => part !== '**' && matchesAll(part, name, ({ kind }) => kind === 'run', matchesOne),
  );
}

/** Of all elements that match any number of the others, only the last one is backtracked: the rest match exactly one. */
function matchesAll<P, N>(
  pattern: readonly P[],
  list: readonly N[],
  isRun: (part: P) => boolean,
  one: (part: P, element: N) => boolean,
): boolean {
  let [at, index, run, runIndex] = [0, 0, -1, 0];
  while (index < list.length) {
    if (at < pattern.length && isRun(pattern[at]!)) {
      run = at++;
      runIndex = index;
    } else if (at < pattern.length && one(pattern[at]!, list[index]!)) {
      at++;
      index++;
    } else if (run >= 0) {
      at = run + 1;
      index = ++runIndex;
    } else return false;
  }
  while (at < pattern.length && isRun(pattern[at]!)) at++;
  return at === pattern.length;
}

function matchesOne(token: Token, char: string): boolean {
  switch (token.kind) {
    case 'char':
      return token.char === char;
    case 'class':
      return token.ranges.some(([low, high]) => low <= char && char <= high) !== token.negated;
    default:
      return true;
  }
}
