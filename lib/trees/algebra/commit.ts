import { ROOT_PATH } from '../../byte-string.ts';
import { Blocked } from './blocked.ts';
import type { CommitOptions, Committed, Trees } from './commit-options.ts';
import { CommitWalk } from './commit-walk.ts';
import { countLinks } from './count-links.ts';
import { follow } from './follow.ts';
import { withOwnNumbers } from './own-numbers.ts';

/**
 * The chosen changes of a sandbox become the codebase's, and no changes any more. The trees must have been followed: a path
 * is in conflict if base and head are not the same there.
 */
export function commit(options: CommitOptions, { base, mine, head }: Trees): Committed {
  const { comparison, own, published, numbers, onConflict } = options;
  try {
    const walk = new CommitWalk(options);
    const { b, m, h } = walk.at(ROOT_PATH, { b: base, m: mine, h: head });
    const { conflicts } = walk;
    if (conflicts.length > 0 && onConflict === '') return { outcome: 'conflicts', conflicts };
    const now = countLinks(comparison, published, head, h);
    // Without directories that only entries needed which are dropped now.
    const ownNumbers = { comparison, sink: own, next: numbers.next };
    const left = follow(ownNumbers, { base: b, mine: m, head: now });
    const settled =
      onConflict === 'theirs'
        ? withOwnNumbers(ownNumbers, now, mine, left.m)
        : countLinks(comparison, own, mine, left.m);
    return { outcome: 'committed', trees: { base: left.b, mine: settled, head: now }, conflicts };
  } catch (error) {
    if (error instanceof Blocked) return { outcome: 'blocked', path: error.path };
    throw error;
  }
}
