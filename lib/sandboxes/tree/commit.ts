import type { Turn } from '../../codebases/tree/turn.ts';
import type { CommitOrigin } from '../../store/versions/version.ts';
import { identical } from '../../trees/format/entry.ts';
import type { FrozenTree } from '../../workspaces/tree/exchange/attached-tree.ts';
import { answerOf, formerAnswer } from './commit-answer.ts';
import type { CommitAnswer, CommitRequest } from './commit-request.ts';
import { durable } from './exchange.ts';
import { followHead, hearOf } from './follow-head.ts';
import type { Codebase, TreeSandbox } from './parts.ts';
import { planCommit } from './plan-commit.ts';
import { writeVersion } from './write-version.ts';

/**
 * A commit, in its whole order:
 *
 * - freeze: what the sandbox has at one moment, durable; its programs go on.
 * - plan: the sandbox follows head as it is now, and the chosen changes become head's, as trees that nobody has yet.
 * - write: contents, directories and the version are durable. The version names what the sandbox had and has afterwards.
 * - move the head: the one moment at which the commit happens. Before it, a crash leaves garbage.
 * - follow: the sandbox hears of its commit, from the version alone. After a crash its next operation begins with this.
 *
 * Others change nothing of the codebase from the plan on. A failure before the head moves has changed nothing. ABORTED: a
 * conflict; FAILED_PRECONDITION: a path that cannot be had alone; RESOURCE_EXHAUSTED; UNAVAILABLE.
 */
export async function commitChanges(
  sandbox: TreeSandbox,
  codebase: Codebase,
  request: CommitRequest,
): Promise<CommitAnswer> {
  const former = await codebase.inTurn(async (turn) => {
    await followHead(sandbox, turn);
    return formerAnswer(request, turn);
  });
  if (former !== undefined) return former;
  const frozen = await sandbox.freeze(true);
  try {
    return await codebase.inTurn((turn) => commitFrozen(sandbox, turn, frozen, request));
  } finally {
    frozen.release();
  }
}

async function commitFrozen(
  sandbox: TreeSandbox,
  turn: Turn,
  frozen: FrozenTree,
  request: CommitRequest,
): Promise<CommitAnswer> {
  const writing = turn.store.begin('no contents');
  try {
    const plan = await turn.run(planCommit({ sandbox, turn, frozen, request, writing }));
    const trees = { mineBefore: frozen.mine, mineAfter: plan.mine, baseAfter: plan.base };
    const commit: CommitOrigin = { sandboxId: sandbox.id, id: request.id, ...trees };
    if (identical(plan.head, turn.head.root)) return await withoutVersion();
    const head = await writeVersion(sandbox, turn, writing, { plan, commit, request });
    await turn.advance(head);
    await followHead(sandbox, turn).catch((error) => sandbox.lags(error));
    return answerOf({ ...plan, version: head.number });

    /** Nothing of the sandbox is new to head; it may give up changes. */
    async function withoutVersion(): Promise<CommitAnswer> {
      const { number } = turn.head;
      await durable(sandbox, turn);
      await hearOf(commit, number, sandbox, turn);
      await sandbox.sync();
      return answerOf({ ...plan, version: number });
    }
  } finally {
    writing.end();
  }
}
