import type { ByteString } from '../byte-string.ts';
import { canReach, type Explorable } from './can-reach.ts';
import { isRedactedLevel, LEVELS, type Level, MERGED, NONE, VIEW, WRITE } from './levels.ts';
import { GIT } from './parse-rule-pattern.ts';
import type { RuleState } from './rule-set.ts';
import { NO_RANK, type RankByLevel, type TrieNode } from './rule-trie.ts';

/** The functions of the rule set that a state uses. */
interface States {
  /**
   * Returns the unique state for these nodes (in any order, with duplicates allowed) and the nodes entered with them.
   */
  intern(entered: TrieNode[]): TrieState;
  level(rank: number): Level;
  scratch(rank: number): boolean;
  redactor(rank: number): string;
}

/** The positions of a walk in all patterns. */
export class TrieState implements RuleState, Explorable {
  readonly nodes: readonly TrieNode[];
  readonly level: Level;
  readonly scratch: boolean;
  readonly redactor: string | undefined;
  readonly uniformBelow: Level | undefined;
  readonly #states: States;
  /** The rank of the best rule that applies to everything below. */
  readonly #blanket: number;
  readonly #levelsBelow: readonly Level[];
  #visibleBelow: boolean | undefined;
  #writableBelow: boolean | undefined;
  #otherwise: TrieState | undefined;

  constructor(states: States, nodes: readonly TrieNode[]) {
    this.#states = states;
    this.nodes = nodes;
    const winner = nodes.reduce((best, { ranks }) => Math.min(best, ranks[0] ?? NO_RANK), NO_RANK);
    this.level = states.level(winner);
    this.scratch = states.scratch(winner);
    this.redactor = isRedactedLevel(this.level) ? states.redactor(winner) : undefined;
    this.#blanket = nodes.reduce((best, node) => Math.min(best, node.blanket), NO_RANK);
    this.#levelsBelow = levelsBelow(nodes, this.#blanket);
    this.uniformBelow = this.#levelsBelow.length === 1 ? this.#levelsBelow[0] : undefined;
  }

  get visibleBelow(): boolean {
    this.#visibleBelow ??= canReach(this, VIEW);
    return this.#visibleBelow;
  }

  get writableBelow(): boolean {
    this.#writableBelow ??= this.#levelsBelow.includes(MERGED) || canReach(this, WRITE);
    return this.#writableBelow;
  }

  child(name: ByteString): TrieState {
    const entered: TrieNode[] = [];
    for (const node of this.nodes) node.index?.find(name, entered);
    const isGit = name === GIT;
    return entered.length === 0 && !isGit ? this.#other() : this.#enter(entered, isGit);
  }

  /** The child for every name that only `*` matches, which is most names of a big tree. */
  #other(): TrieState {
    this.#otherwise ??= this.#enter([]);
    return this.#otherwise;
  }

  #enter(entered: TrieNode[], isGit = false): TrieState {
    for (const node of this.nodes) {
      if (node.loops && !(isGit && node.outsideGit)) entered.push(node);
      if (node.index !== undefined) for (const child of node.index.anyName) entered.push(child);
    }
    return this.#states.intern(entered);
  }

  mayReach(level: Level): boolean {
    return this.#levelsBelow.some((below) => below >= level);
  }

  get patternTokens(): number {
    return this.nodes.reduce((count, node) => count + (node.index?.patternTokens ?? 0), 0);
  }

  mayReachByPattern(level: Level): boolean {
    const reaches = (rank: number | undefined) => rank !== undefined && rank <= this.#blanket;
    return this.nodes.some((node) =>
      node.index?.patterns.some(
        ({ ranks, deep, below }) =>
          [ranks[0], deep?.ranks[0]].some((rank) => reaches(rank) && this.#states.level(rank as number) >= level) ||
          LEVELS.some((other) => other >= level && below[other] !== NO_RANK && reaches(below[other])),
      ),
    );
  }

  *namedChildren(): Generator<TrieState> {
    yield this.#other();
    for (const node of this.nodes) for (const name of node.index?.names() ?? []) yield this.child(name);
  }
}

/** The possible levels of paths strictly below: a superset. */
function levelsBelow(nodes: readonly TrieNode[], blanket: number): Level[] {
  const best: RankByLevel = [NO_RANK, NO_RANK, NO_RANK, NO_RANK, NO_RANK, NO_RANK];
  for (const { below } of nodes) for (const level of LEVELS) best[level] = Math.min(best[level], below[level]);
  const levels = LEVELS.filter((level) => best[level] !== NO_RANK && best[level] <= blanket);
  // Without a rule for everything, some paths are matched by no rule.
  if (blanket === NO_RANK && !levels.includes(NONE)) return [NONE, ...levels];
  return levels;
}
