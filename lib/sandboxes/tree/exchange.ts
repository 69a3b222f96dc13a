import type { Turn } from '../../codebases/tree/turn.ts';
import { follow } from '../../trees/algebra/follow.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import type { FrozenTree } from '../../workspaces/tree/exchange/attached-tree.ts';
import type { Root } from '../../workspaces/tree/journal/records.ts';
import { Hashes } from './hashes.ts';
import type { TreeSandbox } from './parts.ts';
import { versionsSince } from './versions-since.ts';

/** A tree of a sandbox, and what it has seen of its codebase. */
export interface State {
  readonly mine: DirectoryEntry;
  readonly base: Root;
}

/** Attempts in which programs go on. */
const UNHELD = 3;

/**
 * Another tree takes the place of what a sandbox has, made of that. What programs change meanwhile stays. If they change the
 * same names, it is made again; the last time they wait for it.
 */
export async function exchange(
  sandbox: TreeSandbox,
  turn: Turn,
  make: (frozen: FrozenTree) => Generator<void, State, void>,
): Promise<void> {
  const once = async () => {
    const frozen = await sandbox.freeze(false);
    try {
      const { mine, base } = await turn.run(make(frozen));
      await durable(sandbox, turn);
      return await sandbox.swap(frozen.mine, mine, base);
    } finally {
      frozen.release();
    }
  };
  for (let attempt = 0; attempt < UNHELD; attempt++) if (await once()) return;
  if (!(await sandbox.held(once))) throw new Error('a tree that nobody changes could not be exchanged');
}

/** A record of the sandbox may name what was made: no crash takes it, and no other sandbox gets its numbers. */
export async function durable({ results }: TreeSandbox, turn: Turn): Promise<void> {
  await results.sync();
  await turn.keepNumbers();
}

/** A state after it has followed its codebase to head: commits of the sandbox itself are as those of others. */
export function* followed(sandbox: TreeSandbox, turn: Turn, state: State): Generator<void, State, void> {
  let now = state;
  for (const { root, number } of versionsSince(turn, state.base.version)) {
    const { b, m } = yield* following(sandbox, turn, { base: now.base.base, mine: now.mine, head: root });
    now = { mine: m, base: { version: number, base: b } };
  }
  return now;
}

/** `follow`, with the hashes that it needs. A sandbox has a root always. */
export function* following(
  sandbox: TreeSandbox,
  { numbers }: Turn,
  { base, mine, head }: Record<'base' | 'mine' | 'head', DirectoryEntry>,
): Generator<void, { b: DirectoryEntry; m: DirectoryEntry }, void> {
  const comparison = yield* new Hashes(sandbox).comparing(base, mine, head);
  const { b, m } = follow({ comparison, sink: sandbox.results, next: () => numbers.take() }, { base, mine, head });
  return { b: b as DirectoryEntry, m: m as DirectoryEntry };
}
