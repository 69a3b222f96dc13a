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
  /** What takes the place of a directory, whether it may come or not. */
  replacing: ReadonlySet<string>;
  /** Files of which only some hunks come. */
  parts: ReadonlyMap<string, Part>;
  /** Also over what was edited here. */
  replace: boolean;
}

const NOTHING: Look = { found: undefined, mark: '' };

/** Decides each from what is here, and changes nothing. What else comes is not regarded. */
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
    else if (!this.#mayReplace(step) || (look.found?.type === 'directory' && (await this.#hasOwn(path))))
      step.outcome = 'conflicts';
    return step.outcome;
  }

  async remove(path: string, change: FileChange): Promise<Outcome> {
    const look = await this.#look(path);
    const step: Step = { change, wanted: undefined, look: look ?? NOTHING, outcome: 'applied' };
    this.#steps.set(path, step);
    const isReplaced = above(path).some(
      (each) => this.#wanted.replacing.has(each) && this.#steps.get(each)?.outcome === 'unchanged',
    );
    if (isReplaced || look?.found === undefined) step.outcome = isReplaced || look ? 'unchanged' : 'conflicts';
    else if (!this.#mayReplace(step) || (await this.#hasOtherCase(path))) step.outcome = 'conflicts';
    return step.outcome;
  }

  /** Of a directory that is to go, after what is in it: whether nothing stays there. */
  async empties(path: string): Promise<boolean> {
    const names = await this.#namesIn(path);
    const steps = names.map((name) => this.#steps.get(`${path}/${name}`));
    return steps.every((step) => step?.outcome === 'applied' && step.wanted === undefined);
  }

  /** Whether something is in the directory that is not to go. */
  async #hasOwn(path: string): Promise<boolean> {
    const waiting = [path];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const below = (await this.#namesIn(at)).map((name) => `${at}/${name}`);
      if (below.some((each) => !this.#wanted.removed.has(each))) return true;
      waiting.push(...below);
    }
    return false;
  }

  async #namesIn(path: string): Promise<string[]> {
    const names = (place: Place) => (place.type() === 'directory' ? place.names() : []);
    return (await Place.use(this.#tree, path, names)) ?? [];
  }

  /** Whether what comes to a path that is the same in another case has the same file. */
  async #hasOtherCase(path: string): Promise<boolean> {
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
