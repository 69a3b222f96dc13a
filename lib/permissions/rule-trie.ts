import { ComponentIndex } from './component-index.ts';
import { LEVELS, levelOfRule } from './levels.ts';
import { componentKey } from './parse-pattern.ts';
import type { RankedRule } from './precedence.ts';
import type { Component } from './tokens.ts';

/** No rule: a rank after all others. */
export const NO_RANK = Number.POSITIVE_INFINITY;

/** For each level, the best rank of a rule with that level. */
export type RankByLevel = [number, number, number, number, number, number];

/**
 * A position in one or more patterns. Patterns with a common prefix share nodes, so the cost of a walk depends on their
 * differences and not on their number.
 */
export class TrieNode {
  readonly id: number;
  /** Follows a `**`: stays active for any component. */
  readonly loops: boolean;
  /** Of those that loop: not active for `.git`. No rule ends here. */
  readonly outsideGit: boolean;
  /** Ranks of the rules whose pattern ends here, best first. A rank is the index in the order of precedence. */
  readonly ranks: number[] = [];
  /** The `**` child. It also matches no component, so it is entered together with this node. */
  deep: TrieNode | undefined;
  /** Like `deep`, with `outsideGit`. */
  deepOutsideGit: TrieNode | undefined;
  index: ComponentIndex<TrieNode> | undefined;
  /**
   * Best ranks of the rules that can match strictly below, except those that are overridden on every path by a better
   * rule for everything below. A superset of the reachable ones.
   */
  readonly below: RankByLevel = [NO_RANK, NO_RANK, NO_RANK, NO_RANK, NO_RANK, NO_RANK];

  constructor(id: number, component?: Component) {
    this.id = id;
    this.loops = typeof component === 'string';
    this.outsideGit = component === 'deep outside .git';
  }

  /** The rank of the best rule here that also applies to everything below. */
  get blanket(): number {
    return (this.loops ? this : this.deep)?.ranks[0] ?? NO_RANK;
  }
}

/** Needed only during construction; dropping it halves the memory of a trie. */
type Children = Map<string, TrieNode>;

export interface ParsedRule extends RankedRule {
  components: readonly Component[];
}

/** Rules added, or nodes completed, in one step. */
const ITEMS_PER_STEP = 64;

/** Builds the trie in steps. `rules` must be in order of precedence. */
export function* buildTrie(rules: readonly ParsedRule[]): Generator<undefined, TrieNode, void> {
  const root = new TrieNode(0);
  const nodes = [root];
  const children: Children[] = [new Map()];
  for (const [rank, { components }] of rules.entries()) {
    let node = root;
    for (const component of components) {
      const known = children[node.id] as Children;
      const key = componentKey(component);
      let child = known.get(key);
      if (child === undefined) {
        child = addChild(node, component, nodes.length);
        known.set(key, child);
        nodes.push(child);
        children.push(new Map());
      }
      node = child;
    }
    node.ranks.push(rank);
    if (rank % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  // A child always has a higher id, so the reverse order visits children before parents.
  for (const node of nodes.toReversed()) {
    fillBelow(node, (children[node.id] as Children).values(), rules);
    if (node.id % ITEMS_PER_STEP === 0) yield;
  }
  return root;
}

function addChild(node: TrieNode, component: Component, id: number): TrieNode {
  const child = new TrieNode(id, component);
  if (component === 'deep') {
    node.deep = child;
  } else if (component === 'deep outside .git') {
    node.deepOutsideGit = child;
  } else {
    node.index ??= new ComponentIndex();
    node.index.add(component, child);
  }
  return child;
}

function fillBelow(node: TrieNode, children: Iterable<TrieNode>, rules: readonly ParsedRule[]): void {
  const cover = node.blanket;
  if (node.loops) takeOwn(node, node.below, cover, rules);
  for (const child of children) {
    takeAll(child.below, node.below, cover);
    takeOwn(child, node.below, Math.min(cover, child.blanket), rules);
    if (child.deep !== undefined) takeOwn(child.deep, node.below, cover, rules);
  }
}

function takeOwn(node: TrieNode, into: RankByLevel, cover: number, rules: readonly ParsedRule[]): void {
  const rank = node.ranks[0];
  if (rank === undefined || rank > cover) return;
  const level = levelOfRule((rules[rank] as ParsedRule).rule);
  into[level] = Math.min(into[level], rank);
}

function takeAll(from: RankByLevel, into: RankByLevel, cover: number): void {
  for (const level of LEVELS) {
    if (from[level] <= cover) into[level] = Math.min(into[level], from[level]);
  }
}
