import type { Choice } from '../../trees/algebra/choice.ts';
import { discard } from '../../trees/algebra/discard.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import { exchange, followed, following } from './exchange.ts';
import { followHead } from './follow-head.ts';
import { Hashes } from './hashes.ts';
import type { Codebase, TreeSandbox } from './parts.ts';

/** The chosen paths of a sandbox show the codebase again, at one moment. Durable when it resolves. */
export function discardChanges(sandbox: TreeSandbox, codebase: Codebase, choice: Choice): Promise<void> {
  return codebase.inTurn(async (turn) => {
    await followHead(sandbox, turn);
    await exchange(sandbox, turn, function* (frozen) {
      const { mine, base } = yield* followed(sandbox, turn, frozen);
      const trees = { base: base.base, mine, head: turn.head.root };
      const comparison = yield* new Hashes(sandbox).comparing(trees.base, mine, trees.head);
      const options = { comparison, sink: sandbox.results, next: () => turn.numbers.take() };
      const { b, m } = discard(options, choice, trees);
      const left = { base: b as DirectoryEntry, mine: m as DirectoryEntry, head: trees.head };
      const after = yield* following(sandbox, turn, left);
      return { mine: after.m, base: { version: base.version, base: after.b } };
    });
    await sandbox.sync();
  });
}
