import type { ByteString } from '../../byte-string.ts';
import { timeOfMs } from '../../codebases/tree/new-entry.ts';
import { contentsOf } from '../../codebases/tree/tree-quota.ts';
import type { Turn } from '../../codebases/tree/turn.ts';
import type { Writing } from '../../store/writing.ts';
import { commit } from '../../trees/algebra/commit.ts';
import type { CommitOptions, Trees } from '../../trees/algebra/commit-options.ts';
import type { Comparison } from '../../trees/algebra/comparison.ts';
import { diff } from '../../trees/algebra/diff.ts';
import { type DirectoryEntry, identical } from '../../trees/format/entry.ts';
import type { FrozenTree } from '../../workspaces/tree/exchange/attached-tree.ts';
import { chosenChanges, growthOf } from './chosen-changes.ts';
import type { CommitRequest } from './commit-request.ts';
import { followed } from './exchange.ts';
import { Hashes } from './hashes.ts';
import { Overlay } from './overlay.ts';
import type { TreeSandbox } from './parts.ts';
import { Publishing } from './publishing.ts';
import { requireCommitted } from './refusals.ts';

/** What a commit will make: objects and contents are written, and nobody has them yet. */
export interface CommitPlan {
  readonly mine: DirectoryEntry;
  readonly base: DirectoryEntry;
  readonly head: DirectoryEntry;
  /** Where head changes, and which conflicts are decided. */
  readonly paths: readonly ByteString[];
  readonly conflicts: readonly ByteString[];
}

interface PlanIn {
  readonly sandbox: TreeSandbox;
  readonly turn: Turn;
  readonly frozen: FrozenTree;
  readonly request: CommitRequest;
  readonly writing: Writing;
}

/** Throws ABORTED, FAILED_PRECONDITION and RESOURCE_EXHAUSTED, and what `check` throws: then nothing has happened. */
export function* planCommit(where: PlanIn): Generator<void, CommitPlan, void> {
  const { sandbox, turn, frozen, request } = where;
  const { mine, base } = yield* followed(sandbox, turn, frozen);
  const trees = { base: base.base, mine, head: turn.head.root };
  const comparison = yield* new Hashes(sandbox).comparing(trees.base, mine, trees.head);
  const options = optionsOf(where, comparison);
  // Without a lagging base there is no conflict, and contents need not be written to find that out.
  if (!identical(trees.base, trees.head)) requireCommitted(commit(previewing(options), trees));
  yield* publishChosen(where, trees, options);
  const { trees: made, conflicts } = requireCommitted(commit(options, trees));
  const paths: ByteString[] = [];
  for (const { path } of diff(comparison, trees.head, made.head)) if (request.choice.has(path)) paths.push(path);
  return {
    mine: made.mine as DirectoryEntry,
    base: made.base as DirectoryEntry,
    head: made.head as DirectoryEntry,
    paths,
    conflicts,
  };
}

function optionsOf({ sandbox, turn, frozen, request, writing }: PlanIn, comparison: Comparison): CommitOptions {
  const { numbers, now } = turn;
  const isOwn = (ino: number) => frozen.own.some(({ next, end }) => ino >= next && ino < end);
  const { publish } = new Publishing(sandbox.contents, writing);
  return {
    comparison,
    choice: request.choice,
    onConflict: request.onConflict,
    own: sandbox.results,
    published: writing,
    publish,
    numbers: { next: () => numbers.take(), isOwn },
    time: timeOfMs(now),
  };
}

/** The same without a trace. */
function previewing(options: CommitOptions): CommitOptions {
  const { comparison } = options;
  const overlay = new Overlay(comparison.source, options.own.seed);
  return {
    ...options,
    comparison: comparison.above(overlay),
    own: overlay,
    published: overlay,
    publish: (_, entry) => entry,
  };
}

/** In steps of a file each, and not before there is room for all. */
function* publishChosen({ turn, request }: PlanIn, trees: Trees, options: CommitOptions): Generator<void, void, void> {
  const { comparison } = options;
  const changes = [];
  for (const change of chosenChanges(comparison, trees, request.choice)) {
    request.check(change);
    changes.push(change);
    yield;
  }
  const { quota, head } = turn;
  const growth = growthOf(comparison, head.root, changes);
  quota.admit(contentsOf(head.root.totals), growth);
  quota.reserve(growth.bytes);
  for (const { path, after } of changes) {
    if (after !== undefined) options.publish(path, after);
    yield;
  }
}
