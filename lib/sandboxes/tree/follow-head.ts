import type { Turn } from '../../codebases/tree/turn.ts';
import type { CommitOrigin, Version } from '../../store/versions/version.ts';
import { exchange, following } from './exchange.ts';
import type { TreeSandbox } from './parts.ts';
import { isOwn, versionsSince } from './versions-since.ts';

/**
 * The sandbox hears of all that has happened to its codebase: it has what others changed there, and its own commits are no
 * changes any more. This ends a commit; after a crash it goes on where that was cut off.
 */
export async function followHead(sandbox: TreeSandbox, turn: Turn): Promise<void> {
  for (const version of versionsSince(turn, sandbox.base.version, sandbox.id)) {
    if (isOwn(version, sandbox.id)) await hearOf(version.commit!, version.number, sandbox, turn);
    else await move(version, sandbox, turn);
  }
}

/** What the sandbox has not changed is the version's from now on. */
async function move({ root, number }: Version, sandbox: TreeSandbox, turn: Turn): Promise<void> {
  if (await sandbox.take(root, number)) return;
  await exchange(sandbox, turn, function* ({ mine, base }) {
    const { b, m } = yield* following(sandbox, turn, { base: base.base, mine, head: root });
    return { mine: m, base: { version: number, base: b } };
  });
}

/** What programs have written since the sandbox was frozen for its commit is a change of the committed version. */
export async function hearOf(
  { mineBefore, mineAfter, baseAfter }: CommitOrigin,
  version: number,
  sandbox: TreeSandbox,
  turn: Turn,
): Promise<void> {
  const base = { version, base: baseAfter };
  if (await sandbox.swap(mineBefore, mineAfter, base)) return;
  await exchange(sandbox, turn, function* ({ mine }) {
    const { m } = yield* following(sandbox, turn, { base: mineBefore, mine, head: mineAfter });
    return { mine: m, base };
  });
}
