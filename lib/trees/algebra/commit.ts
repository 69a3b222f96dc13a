import { ROOT_PATH } from '../../byte-string.ts';
import { Blocked } from './blocked.ts';
import type { CommitOptions, Committed, Trees } from './commit-options.ts';
import { CommitWalk } from './commit-walk.ts';
import { follow } from './follow.ts';
import { PublishedNumbers } from './published-numbers.ts';

/**
 * The chosen changes of a sandbox become the codebase's, and no changes any more. The trees must have been followed: a path
 * is in conflict if base and head are not the same there.
 */
export function commit(options: CommitOptions, { base, mine, head }: Trees): Committed {
  const numbers = new PublishedNumbers(options, { base, mine, head });
  try {
    let walk = new CommitWalk(options, numbers);
    let { b, m, h } = walk.at(ROOT_PATH, { b: base, m: mine, h: head });
    if (!numbers.settle(h)) {
      walk = new CommitWalk(options, numbers);
      ({ b, m, h } = walk.at(ROOT_PATH, { b: base, m: mine, h: head }));
    }
    if (walk.conflicts.length > 0 && options.onConflict === '')
      return { outcome: 'conflicts', conflicts: walk.conflicts };
    // Without directories that only entries needed which are dropped now.
    const left = follow(options.comparison, options.own, b, m, h);
    return { outcome: 'committed', trees: { base: left.b, mine: left.m, head: h }, conflicts: walk.conflicts };
  } catch (error) {
    if (error instanceof Blocked) return { outcome: 'blocked', path: error.path };
    throw error;
  }
}
