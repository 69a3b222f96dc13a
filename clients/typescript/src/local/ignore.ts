import { bytesOf, Glob } from './glob.ts';

interface Pattern {
  glob: Glob;
  negated: boolean;
  directoryOnly: boolean;
}

/**
 * The patterns of one .gitignore file, as git reads it (gitignore(5)). They are read here and not asked from git: so
 * they are the same without git and without a repository, and no program runs in a directory whose configuration could
 * name one (core.fsmonitor). npm's `ignore` and PyPI's `pathspec` make regular expressions, whose time is not bounded.
 */
export class IgnoreFile {
  /** The last one first. */
  readonly #patterns: readonly Pattern[];

  /** `text`: bytes, as `bytesOf` returns them. */
  constructor(text: string) {
    this.#patterns = text
      .replace(/^\xef\xbb\xbf/, '')
      .split('\n')
      .flatMap((line) => patternOf(line.endsWith('\r') ? line.slice(0, -1) : line))
      .reverse();
  }

  /** `path`: relative to the directory of the file. undefined: no pattern decides. */
  decides(path: string, isDirectory: boolean): boolean | undefined {
    if (this.#patterns.length === 0) return undefined;
    const names = bytesOf(path).split('/');
    for (const { glob, negated, directoryOnly } of this.#patterns)
      if ((isDirectory || !directoryOnly) && glob.matches(names)) return !negated;
    return undefined;
  }
}

function patternOf(line: string): Pattern[] {
  let text = line.startsWith('#') ? '' : trimmed(line);
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const directoryOnly = text.endsWith('/');
  if (directoryOnly) text = text.slice(0, -1);
  // A slash before the end binds the pattern to the directory of its file.
  const bound = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  const glob = text === '' ? undefined : Glob.parse(text, !bound);
  return glob ? [{ glob, negated, directoryOnly }] : [];
}

/** Without spaces at its end: they count only after a backslash. */
function trimmed(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  let slashes = 0;
  while (line[end - 1 - slashes] === '\\') slashes++;
  return line.slice(0, slashes % 2 === 1 ? end + 1 : end);
}
