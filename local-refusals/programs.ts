import { meaning } from './names.ts';
import { ON_SIGHT, ON_USE } from './table.ts';

/** A program that a path would be, or be part of. */
export interface Program {
  /** What runs it. */
  tool: string;
  /** The path that the tool looks for: this one, or one above it. */
  path: string;
}

const globOf = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 's');

/** The patterns of a table. */
class Programs {
  /** Those without `*`, by their last name. */
  readonly #names = new Map<string, { parts: readonly string[]; tool: string }[]>();
  readonly #globs: { glob: RegExp; tool: string }[] = [];

  constructor(table: readonly (readonly [pattern: string, tool: string])[]) {
    for (const [pattern, tool] of table) {
      const parts = pattern.split('/');
      const name = parts.at(-1)!;
      if (name.includes('*')) this.#globs.push({ glob: globOf(name), tool });
      else this.#names.set(name, [...(this.#names.get(name) ?? []), { parts, tool }]);
    }
  }

  find(path: string): Program | undefined {
    const names = path.split('/');
    const meant = names.map(meaning);
    for (let count = 1; count <= names.length; count++) {
      const tool = this.#toolOf(meant.slice(0, count));
      if (tool !== undefined) return { tool, path: names.slice(0, count).join('/') };
    }
    return undefined;
  }

  #toolOf(names: readonly string[]): string | undefined {
    const name = names.at(-1)!;
    const found = this.#names.get(name)?.find(({ parts }) => parts.join('/') === names.slice(-parts.length).join('/'));
    return found?.tool ?? this.#globs.find(({ glob }) => glob.test(name))?.tool;
  }
}

const sight = new Programs(ON_SIGHT);
const use = new Programs(ON_USE);

/** A short name of Windows may be that of any file: the tool is not known. */
const SHORT = /^[^~]{1,6}~\d+(\..{0,3})?$/s;

/** What tools run without being asked to: when a directory is entered or opened, or at a commit. */
export function runsOnSight(path: string): Program | undefined {
  const found = sight.find(path);
  if (found) return found;
  const names = path.split('/');
  const at = names.findIndex((name) => SHORT.test(name));
  return at === -1
    ? undefined
    : { tool: 'a tool that knows it by another name', path: names.slice(0, at + 1).join('/') };
}

/** What runs when its tool is used, like a Makefile. */
export const runsOnUse = (path: string): Program | undefined => use.find(path);
