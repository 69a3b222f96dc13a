import { ServiceError } from '../../errors.ts';
import type { ByteString } from '../../fuse/filesystem.ts';
import type { OwnDirectory, Settled, WorkspaceChange } from '../../fuse/workspaces.ts';
import { emptyTree } from '../../host-tree/remove-tree.ts';
import type { CommitResponse } from '../../messages.ts';
import type { CommitChanges } from '../../services.ts';
import type { Platform } from '../bring-up.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { chosenPaths } from './chosen-paths.ts';
import { inStages, stepsOf } from './commit-plan.ts';
import { keepRemoved } from './keep-removed.ts';
import { shownChange, typeOf } from './list-changes.ts';
import { newDirectories } from './new-directories.ts';
import { resumeAutoCommit } from './resume-auto-commit.ts';
import { type SmallContents, smallContents } from './small-contents.ts';
import { Staged } from './staged.ts';
import { withWorkspace } from './with-workspace.ts';

/** Changes named in an answer or an error. */
const NAMED = 1000;
/** Times that files written to while they were copied are copied again. */
const ATTEMPTS = 10;
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * Moves changes into the codebase, as one. In the order of the codebase's own changes: nothing else changes its files
 * from the look at them to the end. What the sandbox writes meanwhile stays its own, on top of what was committed.
 */
export async function commitChanges(request: CommitChanges, context: SandboxContext): Promise<CommitResponse> {
  const chosen = chosenPaths(request.paths);
  return withWorkspace(request.sandbox_id, context, async (mount, sandbox) => {
    const { id } = sandbox;
    if (request.dry_run) {
      const changes = await checked(id, await lookFor(id, chosen, mount), chosen, mount);
      return answer(changes, request, false);
    }
    const outcome = await commitFrom(sandbox, request, chosen, mount, context);
    await resumeAutoCommit(sandbox, context);
    return outcome;
  });
}

/** From the queue of a sandbox whose workspace is attached. */
export async function commitFrom(
  sandbox: LiveSandbox,
  request: CommitChanges,
  chosen: readonly ByteString[],
  mount: Platform['mount'],
  context: SandboxContext,
): Promise<CommitResponse> {
  const { id, record } = sandbox;
  let outcome: CommitResponse | undefined;
  await context.platform.apply(record.codebase_id, async (staging) => {
    let own: OwnDirectory[] = [];
    const small = smallContents((inodes) => mount.contents(id, inodes));
    let count: number | undefined;
    let changes: WorkspaceChange[] = [];
    const all = await stagedOf(staging, small, async () => {
      // What programs wrote to mapped pages counts as well, once it is written back.
      if (count !== undefined) await mount.changes(id, '', 0);
      const now = Atomics.load(sandbox.changeCount, 0);
      if (count === now) return changes;
      count = now;
      own = await mount.renamed(id);
      changes = await checked(id, await lookFor(id, chosen, mount), chosen, mount);
      refuseConflicts(changes, request);
      return changes;
    });
    outcome = answer(all.changes, request, true);
    const isTaken = ({ conflict }: WorkspaceChange) => !conflict || request.on_conflict !== 'theirs';
    const taken = all.changes.filter(isTaken);
    const givenUp = all.changes.filter((change) => !isTaken(change)).map(({ path }) => path);
    const removed = taken.filter((change) => isRemoved(change)).map(({ path }) => path);
    await keepRemoved(record.codebase_id, removed, context, id);
    const stages = inStages(taken, own).map((changes) => ({
      steps: stepsOf(changes, all.staged),
      settled: settledBy(changes, own),
    }));
    return { sandboxId: id, stages, givenUp, paths: all.changes.map(({ path }) => path) };
  });
  return outcome!;
}

async function lookFor(
  id: string,
  chosen: readonly ByteString[],
  mount: Platform['mount'],
): Promise<WorkspaceChange[]> {
  return (await mount.changes(id, '', ALL)).changes.filter((change) => isChosen(change, chosen));
}

/**
 * Copies contents until a look afterwards finds them as they were copied: a state that the sandbox was in. New directories
 * are made whole as long as nothing is written meanwhile: then moving one to its place is one step.
 */
async function stagedOf(
  staging: string,
  small: SmallContents,
  look: () => Promise<WorkspaceChange[]>,
): Promise<{ changes: WorkspaceChange[]; staged: Staged }> {
  let changes = await look();
  let staged = new Staged(staging, small, newDirectories(changes));
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await staged.take(changes);
    const after = await look();
    if (after === changes ? staged.holds(after) : !staged.hasWhole && staged.holds(after)) {
      return { changes: after, staged };
    }
    if (staged.hasWhole) {
      await emptyTree(staging);
      staged = new Staged(staging, small);
    }
    changes = after;
  }
  throw new ServiceError('ABORTED', 'the sandbox keeps writing to the files that are to be committed; try again');
}

/** The codebase has something at the path that it will not have, or not as what it is. */
function isRemoved({ now, base }: WorkspaceChange): boolean {
  return base !== undefined && (now === undefined || typeOf(now) !== typeOf(base));
}

function isChosen({ path }: WorkspaceChange, chosen: readonly ByteString[]): boolean {
  return covers(chosen, path);
}

function covers(chosen: readonly ByteString[], path: ByteString): boolean {
  return chosen.some((each) => each === '' || path === each || path.startsWith(`${each}/`));
}

/** What can be committed. Throws for what the rules or a half of a rename forbid. */
async function checked(
  id: string,
  changes: readonly WorkspaceChange[],
  chosen: readonly ByteString[],
  mount: Platform['mount'],
): Promise<WorkspaceChange[]> {
  const possible = changes.filter(({ now }) => now === undefined || typeOf(now) !== 'TYPE_OTHER');
  const forbidden = possible.find(({ writable }) => !writable);
  if (forbidden !== undefined) {
    throw new ServiceError('PERMISSION_DENIED', `the sandbox's rules do not let it write ${shown(forbidden.path)}`);
  }
  if (chosen.includes('')) return possible;
  for (const { path, origin, replaces } of await mount.renamed(id)) {
    if (covers(chosen, path) || (origin === undefined && !replaces)) continue;
    const touches = (change: WorkspaceChange) =>
      change.path.startsWith(`${path}/`) ||
      (origin !== undefined && (change.path === origin || change.path.startsWith(`${origin}/`)));
    if (!possible.some(touches)) continue;
    throw new ServiceError(
      'FAILED_PRECONDITION',
      `paths: the sandbox renamed or replaced the directory ${shown(path)}; choose all of it`,
    );
  }
  return possible;
}

function refuseConflicts(changes: readonly WorkspaceChange[], request: CommitChanges): void {
  const conflicts = changes.filter(({ conflict }) => conflict);
  if (conflicts.length === 0 || request.on_conflict !== '') return;
  const named = conflicts.slice(0, 5).map(({ path }) => shown(path));
  const more = conflicts.length > named.length ? ` and ${conflicts.length - named.length} more` : '';
  throw new ServiceError(
    'ABORTED',
    `nothing is committed: the codebase has another version than the sandbox started from of ${named.join(', ')}${more}`,
    [{ conflicts: conflicts.slice(0, NAMED).map(({ path }) => shownPath(path)) }],
  );
}

/** Whether it is the refusal that a conflict leads to. */
export function isConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'ABORTED' && error.details.length > 0;
}

function answer(
  changes: readonly WorkspaceChange[],
  { on_conflict }: CommitChanges,
  committed: boolean,
): CommitResponse {
  const conflicts = changes.filter(({ conflict }) => conflict);
  const taken = on_conflict === 'theirs' ? changes.filter(({ conflict }) => !conflict) : changes;
  return {
    committed,
    count: taken.length,
    changes: taken.slice(0, NAMED).map(shownChange),
    conflicts: conflicts.slice(0, NAMED).map(({ path }) => shownPath(path)),
  };
}

/** With the directories on the way, which the base may have only now. */
export function settledBy(changes: readonly WorkspaceChange[], own: readonly OwnDirectory[]): Settled[] {
  const settled = new Map<ByteString, Settled>();
  for (const { path, now } of changes) {
    // Each is told after all above it: what is above one that is known is known, too.
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const parent = path.slice(0, slash);
      if (settled.has(parent)) break;
      settled.set(parent, { path: parent });
    }
    settled.set(path, { path, removed: now === undefined, ...(now?.version && { version: now.version }) });
  }
  for (const { id, path } of own) {
    if (settled.has(path)) settled.set(path, { path, version: [id, 0] });
  }
  return [...settled.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function shown(path: ByteString): string {
  return JSON.stringify(shownPath(path).slice(0, 200));
}

function shownPath(path: ByteString): string {
  return Buffer.from(path, 'latin1').toString();
}
