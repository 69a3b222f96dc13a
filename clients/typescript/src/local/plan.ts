import type { FileChange } from '../contract/messages.ts';
import { type Found, isSame, versionOf } from './found.ts';
import type { Part } from './hunks.ts';
import { type Look, Place } from './place.ts';
import { folded } from './refusal.ts';
import { baseOf, presentOf } from './sides.ts';
import type { Tree } from './tree.ts';

export type Outcome = 'applied' | 'unchanged' | 'conflicts' | 'skipped' | 'failed';

/** What is to become of a change, by what is here. */
export interface Step {
  change: FileChange;
  /** The sandbox's version. undefined: it has none. */
  wanted: Found;
  look: Look;
  outcome: Outcome;
}

/** What comes: that something else does not, may leave more here. */
export interface Wanted {
  /** By path, in the order of the server: what is in a directory is after it. */
  written: ReadonlyMap<string, FileChange>;
  removed: ReadonlyMap<string, FileChange>;
  /** The new path of a renamed file, by its old one; of all that is listed. */
  renamed: ReadonlyMap<string, string>;
  /** What takes the place of a directory, whether it may come or not. */
  replacing: ReadonlySet<string>;
  /** Files of which only some hunks come. */
  parts: ReadonlyMap<string, Part>;
  /** Also over what was edited here. */
  replace: boolean;
}

const NOTHING: Look = { found: undefined, mark: '' };

/** Decides from what is here, and changes nothing. */
export class Plan {
  readonly #tree: Tree;
  readonly #wanted: Wanted;
  readonly #steps: Map<string, Step>;
  /** Written paths, by their form without upper and lower case. */
  readonly #folded: ReadonlyMap<string, string>;

  constructor(tree: Tree, wanted: Wanted, steps: Map<string, Step>) {
    this.#tree = tree;
    this.#wanted = wanted;
    this.#steps = steps;
    this.#folded = new Map([...wanted.written.keys()].map((path) => [folded(path), path]));
  }

  async write(path: string, change: FileChange): Promise<Outcome> {
    const wanted = await this.#present(change);
    const look = await this.#look(path);
    const step: Step = { change, wanted, look: look ?? NOTHING, outcome: 'applied' };
    this.#steps.set(path, step);
    if (wanted?.type === 'other') step.outcome = 'skipped';
    else if (look === undefined) step.outcome = this.#becomesDirectory(path) ? 'applied' : 'conflicts';
    else if (isSame(look.found, wanted)) step.outcome = 'unchanged';
    else if (!this.#mayReplace(step) || (look.found?.type === 'directory' && !(await this.#empties(path))))
      step.outcome = 'conflicts';
    return step.outcome;
  }

  async remove(path: string, change: FileChange): Promise<Outcome> {
    const step = this.#steps.get(path) ?? (await this.#removal(path, change));
    const replaced = above(path).find((each) => this.#wanted.replacing.has(each));
    const replacement = replaced === undefined ? undefined : this.#steps.get(replaced);
    // With the directory that is replaced, or not at all.
    if (replaced !== undefined && !isDone(replacement)) step.outcome = 'conflicts';
    else if (replacement?.outcome === 'unchanged') step.outcome = 'unchanged';
    else if (step.outcome === 'applied' && step.look.found?.type === 'directory' && !(await this.#empties(path)))
      step.outcome = 'conflicts';
    return step.outcome;
  }

  /** Without regard to what is above and below. */
  async #removal(path: string, change: FileChange): Promise<Step> {
    const look = await this.#look(path);
    const step: Step = { change, wanted: undefined, look: look ?? NOTHING, outcome: 'applied' };
    this.#steps.set(path, step);
    if (look === undefined) step.outcome = 'conflicts';
    else if (look.found === undefined) step.outcome = 'unchanged';
    else if (!this.#mayReplace(step) || (await this.#isNeeded(path))) step.outcome = 'conflicts';
    return step;
  }

  /** Whether nothing is in the directory but what is removed. */
  async #empties(path: string): Promise<boolean> {
    for (const name of (await Place.use(this.#tree, path, (place) => place.names())) ?? []) {
      const below = `${path}/${name}`;
      const change = this.#wanted.removed.get(below);
      const step = this.#steps.get(below) ?? (change && (await this.#removal(below, change)));
      if (step?.wanted !== undefined || step?.outcome !== 'applied') return false;
      if (step.look.found?.type === 'directory' && !(await this.#empties(below))) return false;
    }
    return true;
  }

  /** Whether the contents are only here: they do not come to their new path; or that has the same file, in another case. */
  async #isNeeded(path: string): Promise<boolean> {
    const renamed = this.#wanted.renamed.get(path);
    if (renamed !== undefined && !isDone(this.#steps.get(renamed))) return true;
    const other = this.#folded.get(folded(path));
    if (other === undefined) return false;
    const identity = await this.#identityOf(path);
    return identity !== undefined && identity === (await this.#identityOf(other));
  }

  #identityOf(path: string): Promise<string | undefined> {
    return Place.use(this.#tree, path, (place) => place.identity());
  }

  /** Whether what is on the way and no directory here will be one. */
  #becomesDirectory(path: string): boolean {
    const steps = above(path).map((each) => this.#steps.get(each));
    return steps.some((step) => step?.wanted?.type === 'directory' && step.outcome === 'applied');
  }

  /** What is here otherwise than in the codebase was edited. What is not empty is never removed as a whole. */
  #mayReplace({ change, look: { found } }: Step): boolean {
    if (isSame(found, baseOf(change))) return true;
    return this.#wanted.replace && found?.type !== 'directory' && found?.type !== 'other';
  }

  #look(path: string): Promise<Look | undefined> {
    return Place.use(this.#tree, path, (place) => place.look());
  }

  /** The sandbox's version; of a file of which hunks are chosen, what they make of the codebase's. */
  async #present(change: FileChange): Promise<Found> {
    const part = this.#wanted.parts.get(change.path);
    if (part === undefined) return presentOf(change);
    const version = await versionOf(once(await part.content()));
    return { type: 'file', version, executable: (part.mode & 0o100) !== 0 };
  }
}

/** The directories that a path is in, but for the root. */
export const above = (path: string): string[] =>
  path.split('/').flatMap((_, at, names) => (at === 0 ? [] : [names.slice(0, at).join('/')]));

export const isDone = (step: Step | undefined): boolean => step?.outcome === 'applied' || step?.outcome === 'unchanged';

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}
