import type { Head } from '../../codebases/tree/head.ts';
import type { Turn } from '../../codebases/tree/turn.ts';
import { VERSION_LIMITS, type Version } from '../../store/versions/version.ts';
import type { Writing } from '../../store/writing.ts';
import { storedRequest } from './commit-answer.ts';
import type { CommitRequest } from './commit-request.ts';
import type { TreeSandbox } from './parts.ts';
import type { CommitPlan } from './plan-commit.ts';

/** All that the next head needs is durable: the trees of the sandbox, too, which its version names. */
export async function writeVersion(
  sandbox: TreeSandbox,
  turn: Turn,
  writing: Writing,
  planned: { plan: CommitPlan; commit: Version['commit']; request: CommitRequest },
): Promise<Head> {
  const { head: from, numbers, now } = turn;
  const { plan, commit, request } = planned;
  const number = from.number + 1;
  const version = writing.putVersion({
    number,
    kind: 'commit',
    createdAt: now,
    parent: from.version,
    root: plan.head,
    nextIno: numbers.next,
    author: request.author,
    message: request.message,
    paths: plan.paths.length > VERSION_LIMITS.paths ? [] : plan.paths,
    commit,
    request: storedRequest(request, { ...plan, version: number }),
  });
  await sandbox.results.sync();
  writing.sync();
  return { store: from.store, number, version, root: plan.head, nextIno: numbers.next };
}
