/** Whether a rule of a .gitignore file matches a path, and then whether it is ignored. */
interface Pattern {
  matches: RegExp;
  negated: boolean;
  directoryOnly: boolean;
}

/**
 * The patterns of one .gitignore file, as git reads it (gitignore(5)). They are read here and not asked from git: so
 * they are the same without git and without a repository, and no program runs in a directory whose configuration could
 * name one (core.fsmonitor).
 */
export class IgnoreFile {
  readonly #patterns: readonly Pattern[];

  constructor(text: string) {
    this.#patterns = text
      .replace(/^\ufeff/, '')
      .split(/\r?\n/)
      .flatMap(patternOf);
  }

  /** `path`: relative to the directory of the file. undefined: no pattern decides. */
  decides(path: string, isDirectory: boolean): boolean | undefined {
    const last = this.#patterns.findLast(
      ({ matches, directoryOnly }) => (isDirectory || !directoryOnly) && matches.test(path),
    );
    return last && !last.negated;
  }
}

function patternOf(line: string): Pattern[] {
  // Spaces at the end count only after a backslash.
  let text = line.replace(/((?:^|[^\\])(?:\\\\)*) +$/, '$1');
  if (text === '' || text.startsWith('#')) return [];
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const directoryOnly = text.endsWith('/');
  if (directoryOnly) text = text.slice(0, -1);
  // A slash before the end binds the pattern to the directory of its file.
  const bound = text.includes('/');
  const glob = text.replace(/^\//, '');
  if (glob === '') return [];
  const source = globSource(glob);
  return source === undefined
    ? []
    : [{ matches: new RegExp(`^${bound ? '' : '(?:.*/)?'}${source}$`, 's'), negated, directoryOnly }];
}

/** A regular expression for a glob of git. undefined: it matches nothing. */
function globSource(glob: string): string | undefined {
  let source = '';
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at]!;
    if (char === '*') {
      const stars = /^\*+/.exec(glob.slice(at))![0].length;
      const before = at === 0 || glob[at - 1] === '/';
      const after = glob[at + stars];
      if (stars >= 2 && before && after === '/') source += '(?:.*/)?';
      else if (stars >= 2 && before && after === undefined) source += '.*';
      else source += '[^/]*';
      at += stars - 1 + (source.endsWith('(?:.*/)?') && stars >= 2 && after === '/' ? 1 : 0);
    } else if (char === '?') source += '[^/]';
    else if (char === '[') {
      const found = classSource(glob.slice(at));
      if (found === undefined) return undefined;
      source += found.source;
      at += found.length - 1;
    } else if (char === '\\') {
      if (++at === glob.length) return undefined;
      source += literal(glob[at]!);
    } else source += literal(char);
  }
  return source;
}

/** A bracket expression of fnmatch(3), which never matches a slash. undefined: it is not closed. */
function classSource(text: string): { source: string; length: number } | undefined {
  const [all, negation = '', members = ''] = /^\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]/s.exec(text) ?? [];
  if (all === undefined) return undefined;
  return { source: `(?!/)[${negation && '^'}${membersSource(members)}]`, length: all.length };
}

/** The members of a bracket expression. A range whose ends are in the wrong order has its first one, as in git. */
function membersSource(members: string): string {
  const parts = [...members.matchAll(/\[:(\w+):\]|\\?(.)/gs)];
  let source = '';
  for (let at = 0; at < parts.length; at++) {
    const [, name, char = ''] = parts[at]!;
    const last = parts[at + 1]?.[0] === '-' ? parts[at + 2]?.[2] : undefined;
    if (name !== undefined) source += CLASSES[name] ?? '';
    else if (last === undefined) source += member(char);
    else {
      source += char <= last ? `${member(char)}-${member(last)}` : member(char);
      at += 2;
    }
  }
  return source;
}

const member = (char: string): string => char.replace(/[\\\]^[-]/, '\\$&');

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\s',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`{-~',
};

const literal = (char: string): string => char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
