import { complete } from '../fuse/connection/steps.ts';
import { compileGlob, compilingExcluded, isMatched } from '../permissions/index.ts';
import { PathStates } from './path-states.ts';

/** Globs have the syntax of rules, and are relative to the directory. */
export interface PathPatterns {
  /** Absent: each path. */
  pattern?: string;
  /** Paths that are left out, with everything below. */
  exclude: readonly string[];
}

/** Finds paths by globs. The paths come in any number of lists, in byte order. */
export class PathSearch {
  readonly #matching: PathStates | undefined;
  readonly #excluded: PathStates | undefined;

  constructor({ pattern, exclude }: PathPatterns) {
    if (pattern !== undefined) this.#matching = new PathStates(compileGlob(fromHere(pattern), 'pattern'));
    const excluded = complete(compilingExcluded(exclude.map(fromHere), 'exclude'));
    if (excluded !== undefined) this.#excluded = new PathStates(excluded);
  }

  finds(path: string): boolean {
    if (this.#excluded !== undefined && isMatched(this.#excluded.at(path))) return false;
    return this.#matching === undefined || isMatched(this.#matching.at(path));
  }
}

const fromHere = (pattern: string): string => pattern.replace(/^\.\//, '');
