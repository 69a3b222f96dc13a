import { lstatSync } from 'node:fs';
import { join } from 'node:path';

/** Names that together make any directory a repository of git, as a local file system shows them. */
const LAYOUTS: readonly (readonly string[])[] = [
  ['HEAD', 'objects', 'refs'],
  ['HEAD', 'commondir'],
];
const PIECES = new Map(LAYOUTS.flat().map((name) => [name.toLowerCase(), name]));

/**
 * Keeps directories from becoming repositories, by what is in them here and what came before, which the server does not
 * know. The threat: git runs what a repository names, in any directory that looks like one.
 */
export class Layout {
  readonly #root: string;
  readonly #local = new Map<string, ReadonlySet<string>>();
  /** Parts of a repository that came, by directory. */
  readonly #came = new Map<string, Set<string>>();
  /** Reasons by path, empty for none: of what comes, and of what is removed. */
  readonly #decided = [new Map<string, string>(), new Map<string, string>()] as const;

  constructor(root: string) {
    this.#root = root;
  }

  /** Why it does not come, or is not removed. undefined: it does. */
  refusal(path: string, isRemoved: boolean): string | undefined {
    // What is in .git was decided by that name.
    const names = path.replace(/(^|\/)\.git(\/.*)?$/s, '').split('/');
    const decided = this.#decided[isRemoved ? 1 : 0];
    const to = (count: number) => names.slice(0, count).join('/');
    let known = names[0] === '' ? 0 : names.length;
    while (known > 0 && !decided.has(to(known))) known--;
    let reason = decided.get(to(known)) ?? '';
    for (let at = known; at < names.length && names[at] !== '' && reason === ''; at++) {
      reason = this.#decide(to(at), names[at]!, isRemoved) ?? '';
      decided.set(to(at + 1), reason);
    }
    return reason === '' ? undefined : reason;
  }

  /** `directory`: none above it is a repository. */
  #decide(directory: string, name: string, isRemoved: boolean): string | undefined {
    const local = this.#piecesIn(directory);
    const shown = directory === '' ? 'the directory' : JSON.stringify(directory);
    if (isRepository(local)) return `${shown} is a repository of git`;
    const piece = PIECES.get(name.toLowerCase());
    if (isRemoved || piece === undefined) return undefined;
    const came = this.#came.get(directory) ?? new Set();
    if (isRepository(new Set([...local, ...came, piece]))) return `${shown} would become a repository of git`;
    this.#came.set(directory, came.add(piece));
    return undefined;
  }

  #piecesIn(directory: string): ReadonlySet<string> {
    const found = this.#local.get(directory) ?? piecesOf(join(this.#root, directory));
    this.#local.set(directory, found);
    return found;
  }
}

const isRepository = (pieces: ReadonlySet<string>): boolean =>
  LAYOUTS.some((layout) => layout.every((piece) => pieces.has(piece)));

function piecesOf(directory: string): ReadonlySet<string> {
  const isHere = (name: string) => {
    try {
      return lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
    } catch {
      return false;
    }
  };
  return new Set([...PIECES.values()].filter(isHere));
}
