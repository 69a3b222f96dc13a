import { type ByteString, splitPath } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import { type Level, levelOfRule, MERGED, NONE } from './levels.ts';
import { type RankedRule, whyBefore } from './precedence.ts';
import type { PlacedRule, RuleSet, RuleState } from './rule-set.ts';
import type { ParsedRule, TrieNode } from './rule-trie.ts';
import { TrieState } from './trie-state.ts';

/**
 * Maximum number of node ids in the table of known states, which is then cleared: bounds it to a few tens of megabytes.
 */
const MAX_INTERNED_NODES = 1_000_000;

export class TrieRuleSet implements RuleSet {
  readonly rules: readonly PermissionRule[];
  readonly hasScratch: boolean;
  readonly hasMerged: boolean;
  readonly root: TrieState;
  readonly #ranked: readonly RankedRule[];
  readonly #states = new Map<string, TrieState>();
  #internedNodes = 0;

  /** `ranked`: those of `rules` that count, in order of precedence. `root`: their trie. */
  constructor(rules: readonly PermissionRule[], ranked: readonly ParsedRule[], root: TrieNode) {
    this.rules = rules;
    this.hasMerged = ranked.some(({ rule }) => levelOfRule(rule) === MERGED);
    this.hasScratch = ranked.some(({ rule }) => rule.scratch === true);
    // Without the components, which the trie contains.
    this.#ranked = ranked.map(({ index, rule, exact, literalPrefix }) => ({ index, rule, exact, literalPrefix }));
    this.root = this.intern([root]);
  }

  state(path: ByteString): TrieState {
    let state = this.root;
    for (const name of splitPath(path)) if (name !== '') state = state.child(name);
    return state;
  }

  decide(path: ByteString): Level {
    return this.state(path).level;
  }

  matching(path: ByteString): PlacedRule[] {
    const ranks = this.state(path).nodes.flatMap((node) => node.ranks);
    ranks.sort((a, b) => a - b);
    return ranks.map((rank) => {
      const { index, rule } = this.#ranked[rank] as RankedRule;
      return { index, rule };
    });
  }

  contentsRules(): PlacedRule[] {
    return [];
  }

  matchingAt(state: RuleState): number[] {
    if (!(state instanceof TrieState)) return [];
    return state.nodes.flatMap(({ ranks }) => ranks.map((rank) => (this.#ranked[rank] as RankedRule).index));
  }

  whyBefore(winner: PlacedRule, beaten: PlacedRule): string {
    const parsed = (placed: PlacedRule) => this.#ranked.find(({ index }) => index === placed.index);
    const [a, b] = [parsed(winner), parsed(beaten)];
    return a === undefined || b === undefined ? 'is not of these rules' : whyBefore(a, b);
  }

  /**
   * Returns the unique state for these nodes (in any order, with duplicates allowed) and the nodes entered with them.
   */
  intern(entered: TrieNode[]): TrieState {
    const nodes = closure(entered);
    const key = nodes.map((node) => node.id).join();
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#internedNodes += nodes.length;
    // States in use stay valid after the table is cleared; only their uniqueness is lost.
    if (this.#internedNodes > MAX_INTERNED_NODES) {
      this.#states.clear();
      this.#internedNodes = nodes.length;
    }
    const state = new TrieState(this, nodes);
    this.#states.set(key, state);
    return state;
  }

  level(rank: number): Level {
    const ranked = this.#ranked[rank];
    return ranked === undefined ? NONE : levelOfRule(ranked.rule);
  }

  redactor(rank: number): string {
    return this.#ranked[rank]?.rule.redactor ?? '';
  }

  scratch(rank: number): boolean {
    return this.hasScratch && this.#ranked[rank]?.rule.scratch === true;
  }
}

function closure(entered: TrieNode[]): TrieNode[] {
  const nodes = new Set(entered);
  for (const { deep, deepOutsideGit } of entered) {
    if (deep !== undefined) nodes.add(deep);
    if (deepOutsideGit !== undefined) nodes.add(deepOutsideGit);
  }
  return [...nodes].sort((a, b) => a.id - b.id);
}
