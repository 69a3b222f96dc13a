import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { type Level, type RuleSet, type RuleState, strictest, WRITE } from '../../permissions/index.ts';
import type { Inode } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';

/** Hard links examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Levels of files with several hard links, under one set of rules: the strictest level of all links, known to the
 * kernel or not. A sandbox can create tens of thousands of links in deep directories, so each file and each directory
 * is examined once. The result changes only with the rules: links are added and removed only where the level is WRITE,
 * and directories move only from WRITE to WRITE.
 */
export class LinkLevels {
  readonly #rules: RuleSet;
  readonly #levels = new WeakMap<Inode, Level>();

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  /** Returns the level of a file, from the cache if it was computed before. */
  *find(inode: Inode): Steps<Level, undefined> {
    const known = this.#levels.get(inode);
    if (known !== undefined) return known;
    const counter = new StepCounter(ITEMS_PER_STEP);
    const states = new Map<Inode, RuleState>();
    let level: Level = WRITE;
    for (const { dir, name } of inode.links) {
      level = strictest(level, this.#stateOf(dir, states).child(name).level);
      if (counter.count()) yield;
    }
    this.#levels.set(inode, level);
    return level;
  }

  #stateOf(dir: Inode, states: Map<Inode, RuleState>): RuleState {
    const way: Inode[] = [];
    let at = dir;
    while (at.id !== ROOT_ID && !states.has(at) && at.linkCount > 0) {
      way.push(at);
      at = at.firstLink!.dir;
    }
    let state = states.get(at) ?? this.#rules.root;
    for (const below of way.reverse()) {
      state = state.child(below.firstLink!.name);
      states.set(below, state);
    }
    return state;
  }
}
