import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { invalid } from '../invalid.ts';
import { bytesOf } from './glob.ts';
import { IgnoreFile } from './ignore.ts';

interface Level {
  /** Path of its directory below the root; empty: the root. */
  base: string;
  /** Instead, if the file is above the root: path of the root from its directory, with a slash. */
  above: string;
  file: IgnoreFile;
}

interface Sources {
  /** Read .gitignore files and `.git/info/exclude`. */
  gitignore: boolean;
  /** Patterns that take precedence. */
  exclude: readonly string[];
  signal: AbortSignal;
}

/** What all directories of a walk share. */
interface Walk {
  root: string;
  gitignore: boolean;
  excluded: IgnoreFile;
  signal: AbortSignal;
  /** Milliseconds of comparisons, in all and since other work had its turn. */
  spent: { all: number; turn: number };
}

/** Bytes of one file, and of those that hold for a directory together. */
const MOST_BYTES = 256 * 1024;
const MOST_IN_ALL = 1024 * 1024;
/** Milliseconds of comparisons, in all and before signals and other work have their turn. */
const MOST_MS = 60_000;
const TURN_MS = 20;

/**
 * What is left out below a directory. The threat: the tree is hostile, and so are its patterns. Their bytes and the time
 * that they take are limited, and a signal ends them.
 */
export class Ignores {
  readonly #walk: Walk;
  /** The last one decides first. */
  readonly #levels: readonly Level[];
  readonly #bytes: number;

  private constructor(walk: Walk, levels: readonly Level[] = [], bytes = 0) {
    this.#walk = walk;
    this.#levels = levels;
    this.#bytes = bytes;
  }

  static async of(root: string, { gitignore, exclude, signal }: Sources): Promise<Ignores> {
    const excluded = new IgnoreFile(bytesOf(exclude.join('\n')));
    const none = new Ignores({ root, gitignore, excluded, signal, spent: { all: 0, turn: 0 } });
    return gitignore ? none.#withThoseAbove() : none;
  }

  /** With those of a directory below. */
  async enter(path: string): Promise<Ignores> {
    const { root, gitignore } = this.#walk;
    return gitignore ? this.#with(join(root, path, '.gitignore'), { base: path, above: '' }) : this;
  }

  /** Nothing in a .git directory is ignored by a .gitignore file, but `exclude` can name it. */
  async has(path: string, isDirectory: boolean): Promise<boolean> {
    const begun = performance.now();
    const excluded = this.#walk.excluded.decides(path, isDirectory);
    const ignored = excluded ?? (!/(^|\/)\.git(\/|$)/.test(path) && this.#isIgnored(path, isDirectory));
    await this.#spend(performance.now() - begun);
    return ignored;
  }

  #isIgnored(path: string, isDirectory: boolean): boolean {
    for (let index = this.#levels.length - 1; index >= 0; index--) {
      const { base, above, file } = this.#levels[index]!;
      const decided = file.decides(base === '' ? above + path : path.slice(base.length + 1), isDirectory);
      if (decided !== undefined) return decided;
    }
    return false;
  }

  async #spend(ms: number): Promise<void> {
    const { spent, signal } = this.#walk;
    spent.all += ms;
    spent.turn += ms;
    if (spent.all > MOST_MS) throw invalid(`the patterns of .gitignore files take more than ${MOST_MS / 1000} s`);
    if (spent.turn < TURN_MS) return;
    spent.turn = 0;
    await setImmediate();
    signal.throwIfAborted();
  }

  /** Of the repository that the directory is in: `.git/info/exclude`, and the .gitignore files above the directory. */
  async #withThoseAbove(): Promise<Ignores> {
    const files: [path: string, above: string][] = [];
    const { root } = this.#walk;
    for (let at = root; ; at = dirname(at)) {
      const above = at === root ? '' : `${relative(at, root).split(sep).join('/')}/`;
      if (at !== root) files.unshift([join(at, '.gitignore'), above]);
      if (await exists(join(at, '.git'))) {
        let ignores = await this.#with(join(at, '.git/info/exclude'), { base: '', above });
        for (const [path, below] of files) ignores = await ignores.#with(path, { base: '', above: below });
        return ignores;
      }
      // In no repository.
      if (dirname(at) === at) return this;
    }
  }

  async #with(path: string, place: Omit<Level, 'file'>): Promise<Ignores> {
    const text = await patternsOf(path);
    if (text === '') return this;
    const bytes = this.#bytes + text.length;
    if (bytes > MOST_IN_ALL) throw invalid(`${path} and the files above it have more than 1 MiB of patterns`);
    return new Ignores(this.#walk, [...this.#levels, { ...place, file: new IgnoreFile(text) }], bytes);
  }
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Empty: there is no such file. git does not follow a symlink either. */
async function patternsOf(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return '';
    if (stat.size > MOST_BYTES) throw invalid(`${path} is larger than 256 KiB`);
    const buffer = Buffer.alloc(MOST_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, MOST_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
