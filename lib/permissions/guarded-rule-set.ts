import { type ByteString, splitPath } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import { isRedactedLevel, type Level } from './levels.ts';
import type { PlacedRule, RuleSet, RuleState } from './rule-set.ts';
import { strictest } from './strictest-state.ts';

/** Rules of two kinds, of which one is a limit: each path has the stricter level of what both say. */
export class GuardedRuleSet implements RuleSet {
  readonly rules: readonly PermissionRule[];
  readonly hasScratch: boolean;
  readonly hasMerged = true;
  readonly root: RuleState;
  readonly #access: RuleSet;
  readonly #contents: RuleSet;

  /** `contents`: the rules about contents, as others that grant a limit. Both know all rules by their index. */
  constructor(access: RuleSet, contents: RuleSet) {
    this.rules = access.rules;
    this.hasScratch = access.hasScratch;
    this.#access = access;
    this.#contents = contents;
    this.root = new Pairs().of(access.root, contents.root);
  }

  state(path: ByteString): RuleState {
    let state = this.root;
    for (const name of splitPath(path)) if (name !== '') state = state.child(name);
    return state;
  }

  decide(path: ByteString): Level {
    return this.state(path).level;
  }

  matching(path: ByteString): PlacedRule[] {
    return this.#access.matching(path);
  }

  contentsRules(path: ByteString): PlacedRule[] {
    const others = this.#access.contentsRules(path);
    const index = this.#contents.matching(path)[0]?.index ?? -1;
    if (index === -1 || others.some((other) => other.index === index)) return others;
    return [...others, { index, rule: this.rules[index]! }];
  }

  matchingAt(state: RuleState): number[] {
    if (!(state instanceof GuardedState)) return [];
    const indexes = [...this.#access.matchingAt(state.access), ...this.#contents.matchingAt(state.contents)];
    return [...new Set(indexes)].filter((index) => index >= 0);
  }

  whyBefore(winner: PlacedRule, beaten: PlacedRule): string {
    return this.#access.whyBefore(winner, beaten);
  }
}

/** The states of one rule set; each pair has one state, so that states can be compared. */
class Pairs {
  readonly #known = new WeakMap<RuleState, WeakMap<RuleState, GuardedState>>();

  of(access: RuleState, contents: RuleState): GuardedState {
    const known = this.#known.get(access);
    const state = known?.get(contents);
    if (state !== undefined) return state;
    const made = new GuardedState(this, access, contents);
    if (known === undefined) this.#known.set(access, new WeakMap([[contents, made]]));
    else known.set(contents, made);
    return made;
  }
}

class GuardedState implements RuleState {
  readonly access: RuleState;
  readonly contents: RuleState;
  readonly level: Level;
  readonly scratch: boolean;
  readonly redactor: string | undefined;
  readonly uniformBelow: Level | undefined;
  readonly #pairs: Pairs;

  constructor(pairs: Pairs, access: RuleState, contents: RuleState) {
    this.#pairs = pairs;
    this.access = access;
    this.contents = contents;
    this.level = strictest(access.level, contents.level);
    this.scratch = access.scratch && this.level === access.level;
    this.redactor = isRedactedLevel(this.level) ? (access.redactor ?? contents.redactor) : undefined;
    const [a, b] = [access.uniformBelow, contents.uniformBelow];
    this.uniformBelow = a === undefined || b === undefined ? undefined : strictest(a, b);
  }

  /** What rules say about contents hides no path, and refuses no change of one. */
  get visibleBelow(): boolean {
    return this.access.visibleBelow;
  }

  get writableBelow(): boolean {
    return this.access.writableBelow;
  }

  child(name: ByteString): RuleState {
    return this.#pairs.of(this.access.child(name), this.contents.child(name));
  }
}
