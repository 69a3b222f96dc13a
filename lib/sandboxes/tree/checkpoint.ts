import { exchange, followed, type State } from './exchange.ts';
import { followHead } from './follow-head.ts';
import type { Codebase, TreeSandbox } from './parts.ts';

/**
 * What a sandbox has now, for as long as its store has it: a checkpoint, or what a fork begins with. It is durable, and not
 * changed by what programs do afterwards.
 */
export async function checkpoint(sandbox: TreeSandbox, codebase: Codebase): Promise<State> {
  await codebase.inTurn((turn) => followHead(sandbox, turn));
  const { mine, base, release } = await sandbox.freeze(true);
  release();
  return { mine, base };
}

/**
 * The sandbox has what it had at a checkpoint, and of what it had not changed then the present version. All in one exchange:
 * its own commits since then are as those of others to the checkpoint, and must not be taken for ones that it has not heard of. Durable
 * when it resolves.
 */
export function rollback(sandbox: TreeSandbox, codebase: Codebase, to: State): Promise<void> {
  return codebase.inTurn(async (turn) => {
    await followHead(sandbox, turn);
    await exchange(sandbox, turn, () => followed(sandbox, turn, to));
    await sandbox.sync();
  });
}
