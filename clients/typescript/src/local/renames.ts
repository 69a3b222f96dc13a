import type { FileChange } from '../contract/messages.ts';
import type { Refusal } from './refusal.ts';

/** Whether what it had in the codebase may have another name, as far as can be told from it alone. */
export const mayBeMoved = (change: FileChange): boolean =>
  hasLeft(change) || (change.kind === 'modified' && change.baseType !== 'directory');

/** Whether it is part of a rename: another one may have taken the name of one that left it. */
const hasLeft = ({ kind, renamedFrom }: FileChange): boolean => kind === 'deleted' || renamedFrom !== '';

/** Why a path does not come without another one. */
export const halfOf = (other: string): Refusal => ({
  reason: `it is half of a rename: ${JSON.stringify(other)} must come, too`,
  again: true,
});

/** The names that the sandbox gave to what has another one in the codebase, and left that, or put something else there. */
export class Renames {
  readonly #new = new Map<string, string[]>();
  readonly #old = new Map<string, string>();
  /** Old paths that come only with a new one, but not the other way round. */
  readonly #rewritten = new Set<string>();

  /** Modified files of which only some hunks come: they keep what they have, and do not get all that was renamed to them. */
  readonly #parts = new Set<string>();

  /** `all`: the changes of the sandbox, or those among them that matter. `hasHunks`: only some hunks come. */
  constructor(all: readonly FileChange[], hasHunks: (path: string) => boolean) {
    for (const change of all) {
      if (change.kind === 'modified' && hasHunks(change.path)) this.#parts.add(change.path);
      else if (mayBeMoved(change)) {
        this.#new.set(change.path, []);
        if (!hasLeft(change)) this.#rewritten.add(change.path);
      }
    }
    for (const { path, renamedFrom } of all) {
      const names = this.#new.get(renamedFrom);
      if (names === undefined) continue;
      names.push(path);
      if (!this.#parts.has(path)) this.#old.set(path, renamedFrom);
    }
  }

  /** Several, if it had hard links. */
  newNamesOf(path: string): readonly string[] {
    return (this.#new.get(path) ?? []).filter((each) => !this.#parts.has(each));
  }

  /** Those that come only if the path does. */
  followersOf(path: string): readonly string[] {
    return this.#rewritten.has(path) ? [] : this.newNamesOf(path);
  }

  oldNameOf(path: string): string | undefined {
    return this.#old.get(path);
  }

  /** The old path without which it does not come. */
  leaderOf(path: string): string | undefined {
    const old = this.#old.get(path);
    return old === undefined || this.#rewritten.has(old) ? undefined : old;
  }

  /** Chosen paths of which the other half is not chosen, with the reasons: the old one alone would lose the contents here. */
  halves(chosen: ReadonlySet<string>): Map<string, Refusal> {
    const halves = new Map<string, Refusal>();
    const leave = (path: string, other: string) => halves.set(path, halfOf(other));
    for (const [old, paths] of this.#new) {
      const coming = this.newNamesOf(old).filter((path) => chosen.has(path));
      if (!chosen.has(old)) for (const path of this.#rewritten.has(old) ? [] : coming) leave(path, old);
      else if (paths.length > 0 && coming.length === 0) leave(old, paths[0]!);
    }
    return halves;
  }
}
