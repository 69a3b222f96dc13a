import type { ByteString } from '../fuse/filesystem.ts';
import type { PermissionRule } from '../messages.ts';
import { type Level, levelOf, NONE, VIEW, WRITE } from './levels.ts';
import { type ParsedRule, whyBefore } from './precedence.ts';
import type { PlacedRule, RuleSet, RuleState } from './rule-set.ts';
import { buildTrie, NO_RANK, type RankByLevel, type TrieNode } from './rule-trie.ts';

/** Node ids held by the table of known states before it starts afresh: bounds it to a few tens of megabytes. */
const MAX_INTERNED_NODES = 1_000_000;

export class TrieRuleSet implements RuleSet {
  readonly rules: readonly PermissionRule[];
  readonly root: TrieState;
  readonly #ranked: readonly ParsedRule[];
  readonly #states = new Map<string, TrieState>();
  #internedNodes = 0;

  /** `ranked`: all of `rules`, in order of precedence. */
  constructor(rules: readonly PermissionRule[], ranked: readonly ParsedRule[]) {
    this.rules = rules;
    this.#ranked = ranked;
    this.root = this.intern([buildTrie(ranked)]);
  }

  state(path: ByteString): TrieState {
    let state = this.root;
    for (const name of path.split('/')) if (name !== '') state = state.child(name);
    return state;
  }

  decide(path: ByteString): Level {
    return this.state(path).level;
  }

  matching(path: ByteString): PlacedRule[] {
    const ranks = this.state(path).nodes.flatMap((node) => node.ranks);
    ranks.sort((a, b) => a - b);
    return ranks.map((rank) => {
      const { index, rule } = this.#ranked[rank] as ParsedRule;
      return { index, rule };
    });
  }

  whyBefore(winner: PlacedRule, beaten: PlacedRule): string {
    const parsed = (placed: PlacedRule) => this.#ranked.find(({ index }) => index === placed.index);
    const [a, b] = [parsed(winner), parsed(beaten)];
    return a === undefined || b === undefined ? 'is not of these rules' : whyBefore(a, b);
  }

  /** The one state for these nodes (in any order, repeats allowed) and what is entered with them. */
  intern(entered: TrieNode[]): TrieState {
    const nodes = closure(entered);
    const key = nodes.map((node) => node.id).join();
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#internedNodes += nodes.length;
    // Whoever holds a dropped state keeps it; only new ones are made twice.
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
    return ranked === undefined ? NONE : levelOf(ranked.rule.permission);
  }
}

function closure(entered: TrieNode[]): TrieNode[] {
  const nodes = new Set(entered);
  for (const node of entered) if (node.deep !== undefined) nodes.add(node.deep);
  return [...nodes].sort((a, b) => a.id - b.id);
}

class TrieState implements RuleState {
  readonly level: Level;
  readonly visibleBelow: boolean;
  readonly writableBelow: boolean;
  readonly uniformBelow: Level | undefined;
  readonly nodes: readonly TrieNode[];
  readonly #ruleSet: TrieRuleSet;
  /** Where every name leads that no pattern mentions; most names of a big tree do. */
  #unmentioned: TrieState | undefined;

  constructor(ruleSet: TrieRuleSet, nodes: readonly TrieNode[]) {
    this.#ruleSet = ruleSet;
    this.nodes = nodes;
    this.level = ruleSet.level(nodes.reduce((best, { ranks }) => Math.min(best, ranks[0] ?? NO_RANK), NO_RANK));
    const levels = levelsBelow(nodes);
    this.visibleBelow = levels.some((level) => level >= VIEW);
    this.writableBelow = levels.includes(WRITE);
    this.uniformBelow = levels.length === 1 ? levels[0] : undefined;
  }

  child(name: ByteString): TrieState {
    const entered: TrieNode[] = [];
    for (const node of this.nodes) node.index?.find(name, entered);
    if (entered.length === 0) {
      this.#unmentioned ??= this.#enter([]);
      return this.#unmentioned;
    }
    return this.#enter(entered);
  }

  #enter(entered: TrieNode[]): TrieState {
    for (const node of this.nodes) if (node.loops) entered.push(node);
    return this.#ruleSet.intern(entered);
  }
}

/**
 * The levels that paths strictly below may have: never one too few. A rule counts only when no better rule holds for
 * everything below.
 */
function levelsBelow(nodes: readonly TrieNode[]): Level[] {
  const best: RankByLevel = [NO_RANK, NO_RANK, NO_RANK, NO_RANK];
  let blanket = NO_RANK;
  for (const node of nodes) {
    blanket = Math.min(blanket, node.blanket);
    for (const level of [0, 1, 2, 3] as const) best[level] = Math.min(best[level], node.below[level]);
  }
  const levels = ([0, 1, 2, 3] as const).filter((level) => best[level] !== NO_RANK && best[level] <= blanket);
  // Without a rule for everything there are paths no rule matches.
  if (blanket === NO_RANK && !levels.includes(NONE)) levels.unshift(NONE);
  return levels;
}
