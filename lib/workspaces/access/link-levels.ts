import { Counted, type Steps } from '../../fuse/connection/steps.ts';
import { type Level, type RuleSet, type RuleState, strictest, WRITE } from '../../permissions/index.ts';
import type { Inode } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';

/** Names looked at in one step. */
const AT_ONCE = 64;

/**
 * Levels of files with several names under one set of rules: the strictest of all, whether the kernel knows them or not.
 * A sandbox can make a file tens of thousands of names in deep directories, so each file and each directory is looked at
 * once. Nothing but new rules changes an answer: names come and go only where everything is WRITE, and directories move
 * only from WRITE to WRITE.
 */
export class LinkLevels {
  readonly #rules: RuleSet;
  readonly #levels = new WeakMap<Inode, Level>();

  constructor(rules: RuleSet) {
    this.#rules = rules;
  }

  *find(inode: Inode): Steps<Level> {
    const known = this.#levels.get(inode);
    if (known !== undefined) return known;
    const counted = new Counted(AT_ONCE);
    const states = new Map<Inode, RuleState>();
    let level: Level = WRITE;
    for (const { dir, name } of inode.links) {
      level = strictest(level, this.#stateOf(dir, states).child(name).level);
      yield* counted.one();
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
