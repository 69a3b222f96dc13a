import { fromText } from '../byte-string.ts';
import type { RuleState } from '../permissions/index.ts';

/** Finds the states of compiled globs at paths; one that shares directories with the path before it starts from theirs. */
export class PathStates {
  #names: string[] = [];
  /** Of the root, and of each name of the last path. */
  readonly #states: RuleState[];

  constructor(root: RuleState) {
    this.#states = [root];
  }

  at(path: string): RuleState {
    const names = path.split('/');
    let same = 0;
    while (same < names.length && names[same] === this.#names[same]) same++;
    this.#states.length = same + 1;
    for (let index = same; index < names.length; index++) {
      this.#states.push(this.#states[index]!.child(fromText(names[index]!)));
    }
    this.#names = names;
    return this.#states[names.length]!;
  }
}
