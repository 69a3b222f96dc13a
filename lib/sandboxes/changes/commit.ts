import { withBreaks } from '../../breaks.ts';
import { type ByteString, quote, ROOT_PATH } from '../../byte-string.ts';
import type { MakePlan } from '../../codebases/plan.ts';
import type { CommitResponse } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { emptyTree } from '../../host-tree/remove-tree.ts';
import { filtered } from '../../long-lists.ts';
import { compilingExcluded } from '../../permissions/index.ts';
import type { CommitChanges } from '../../services.ts';
import { threadedChoice } from '../../text-tools/differ.ts';
import type { ChangeSelection, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import type { SandboxContext } from '../context.ts';
import type { Platform } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { SIDES_DESCRIPTORS } from './change-sides.ts';
import { chosenChanges, madeFor, wholeReplacing } from './chosen-changes.ts';
import { answer, namedPaths } from './commit-answer.ts';
import { CommitPause } from './commit-pause.ts';
import { growthOf, isAdded, isRemoved, shownElsewhere, stepsOf } from './commit-plan.ts';
import { HunkParts, withHunkPaths } from './hunk-parts.ts';
import { keepingLeft } from './left-below.ts';
import type { List } from './listed-for.ts';
import type { Ahead } from './listed-in-pages.ts';
import { newDirectories } from './new-directories.ts';
import { OtherSandboxes } from './other-sandboxes.ts';
import { rebasing } from './rebased-paths.ts';
import { listedWithRenames } from './renamed-hunks.ts';
import { type Resolution, resolveForCodebase } from './resolve-conflicts.ts';
import { resumeAutoCommit } from './resume-auto-commit.ts';
import { selectionOf } from './selection.ts';
import { smallContents } from './small-contents.ts';
import { Staged } from './staged.ts';
import { withWorkspace } from './with-workspace.ts';

/** Maximum number of attempts to copy files that are written to meanwhile. */
const ATTEMPTS = 10;
/** Those of them in which programs go on. */
const UNPAUSED_ATTEMPTS = 2;
/** Limits of what is compared and copied while programs wait: changes, and bytes. */
const PAUSED_CHANGES = 100_000;
const PAUSED_BYTES = 64 << 20;
/** Bytes that take about as long to copy as a file is opened. */
const FILE_COST = 16 << 10;

/**
 * Commits changes to the codebase, atomically. Runs in the order of the codebase's changes: nothing else changes its
 * files from the comparison to the end. Concurrent writes of the sandbox stay in its delta, on top of the committed
 * state.
 */
export async function commitChanges(request: CommitChanges, context: SandboxContext): Promise<CommitResponse> {
  const chosen = await withHunkPaths(await selectionOf(request), request);
  const { hunks = [], sandbox_id } = request;
  if (hunks.length === 0) return commitChosen(request, chosen, context);
  // Before the sandbox's queue, as exports do: a wait in it would hold what this waits for.
  const end = await context.platform.descriptors.transfers.begin(sandbox_id, SIDES_DESCRIPTORS);
  try {
    return await commitChosen(request, chosen, context);
  } finally {
    end();
  }
}

function commitChosen(
  request: CommitChanges,
  chosen: ChangeSelection,
  context: SandboxContext,
): Promise<CommitResponse> {
  return withWorkspace(request.sandbox_id, context, async (mount, sandbox) => {
    const { id } = sandbox;
    if (request.dry_run) {
      const { changes, committed } = await compare(
        id,
        chosen,
        request,
        mount,
        partsOf(sandbox, request, mount, context),
      );
      return answer(changes, committed, false);
    }
    // A workspace that is detached next would be loaded once more.
    const outcome = await commitFrom(sandbox, request, chosen, mount, context, sandbox.hasWorkspace);
    await resumeAutoCommit(sandbox, context);
    return outcome;
  });
}

/**
 * Call from the queue of a sandbox whose workspace is attached. `staysAttached`: it stays so, and may be rebased after this
 * resolves.
 */
export async function commitFrom(
  sandbox: LiveSandbox,
  request: CommitChanges,
  chosen: ChangeSelection,
  mount: Platform['mount'],
  context: SandboxContext,
  staysAttached = false,
): Promise<CommitResponse> {
  const { id, record } = sandbox;
  const pause = new CommitPause(id, mount);
  const parts = partsOf(sandbox, request, mount, context);
  let outcome: CommitResponse | undefined;
  const plan: MakePlan = async (staging, admit, remote) => {
    const by = { remote, small: smallContents((inodes) => mount.contents(id, inodes)), text: textOf(mount, id) };
    let count: number | undefined;
    let compared: Comparison = { changes: [], committed: [], reverted: [], own: [], made: [], equal: new Set() };
    const look = async (ahead?: Ahead['take']) => {
      // Writes through mapped pages count as well, once they are written back.
      if (count !== undefined && !pause.isPaused) await mount.changes(id, ROOT_PATH, 0);
      const now = Atomics.load(sandbox.changeCount, 0);
      if (count === now) return compared.committed;
      count = now;
      const isAsBefore = () => Atomics.load(sandbox.changeCount, 0) === now;
      const isPaused = pause.isPaused;
      compared = await compare(id, chosen, request, mount, parts, {
        isPaused,
        ahead: ahead && { take: ahead, isAsBefore },
      });
      await refuseConflicts(compared.changes, request);
      await admit(await growthOf(compared.committed));
      return compared.committed;
    };
    const others = new OtherSandboxes(record.codebase_id, id, context);
    const affected = () => (hasMoved(compared.own) ? others : undefined);
    const made = () => compared.made;
    const { staged } = await stagedOf(staging, by, { look, affected, made, pause });
    outcome = await answer(compared.changes, compared.committed, true);
    const isMoved = hasMoved(compared.own);
    if (!isMoved) await others.preserve(compared.committed);
    // A renamed directory shows the codebase at another path, and what is given up changes. Otherwise the sandbox shows the same
    // before it is rebased: its own entries, which the codebase has then, too.
    const rebasesLater = staysAttached && !isMoved && compared.reverted.length === 0;
    const retry = request.intent === undefined ? {} : { intent: request.intent, answer: outcome };
    const planned = await planOf(compared, staged);
    const failed = () => pause.end();
    return { sandboxId: id, ...planned, rebasesLater, othersPrepared: isMoved, failed, ...retry };
  };
  try {
    await context.platform.apply(record.codebase_id, plan);
  } finally {
    await pause.end();
  }
  return outcome!;
}

const partsOf = (
  { id, record }: LiveSandbox,
  { hunks = [], dry_run }: CommitChanges,
  mount: Platform['mount'],
  { platform }: SandboxContext,
): HunkParts => {
  const choose = threadedChoice(platform.diffs.of(record.owner_id));
  const base = platform.basePath(record.codebase_id);
  return new HunkParts(hunks, choose, { id, base, attached: (task) => task(mount) }, dry_run);
};

interface Comparison extends Resolution {
  /** All chosen changes, including those in conflict. */
  changes: WorkspaceChange[];
  own: OwnDirectory[];
  /** See `madeFor`. */
  made: ByteString[];
  /** See `wholeReplacing`. */
  equal: Set<ByteString>;
}

async function compare(
  id: string,
  chosen: ChangeSelection,
  { on_conflict }: CommitChanges,
  mount: Platform['mount'],
  parts: HunkParts,
  { isPaused, ahead }: { isPaused: boolean; ahead?: Ahead | undefined } = { isPaused: false },
): Promise<Comparison> {
  const list: List = (after, limit, asked) => mount.changes(id, after, limit, { ...asked, isPaused });
  const { listed: all, own, selection } = await listedWithRenames(chosen, parts.paths, list, ahead);
  const { paths, exclude } = selection;
  const whole = await chosenChanges(all, paths, own, await withBreaks(compilingExcluded(exclude)));
  const changes = await parts.of(whole, on_conflict);
  const { committed, reverted } =
    on_conflict === 'theirs'
      ? await keepingLeft(resolveForCodebase(changes, own), all, own, paths)
      : { committed: changes, reverted: [] };
  const made = await madeFor(all, committed);
  return { changes, own, committed, reverted, made, equal: await wholeReplacing(selection, all, own) };
}

async function planOf({ changes, committed, reverted, own, made, equal }: Comparison, staged: Staged) {
  const shown = shownElsewhere(own);
  const steps = await stepsOf(committed, staged);
  return {
    stages: [{ steps, settled: await withBreaks(rebasing(committed, own, { reverted, equal })) }],
    givenUp: reverted,
    paths: [...made, ...changes.map(({ path }) => path)],
    removed: (await filtered(committed, isRemoved)).map(({ path }) => path),
    added: (await filtered(committed, (change) => isAdded(change, shown))).map(({ path }) => path),
    growth: await growthOf(committed),
  };
}

interface SandboxState {
  /** Returns its changes, the same list if it changed nothing since the last call. */
  look: (ahead?: Ahead['take']) => Promise<WorkspaceChange[]>;
  /** The others on the codebase, if it had renamed directories of the codebase when it was looked at last. */
  affected: () => OtherSandboxes | undefined;
  made: () => readonly ByteString[];
  pause: CommitPause;
}

/**
 * Copies contents until a later comparison finds them unchanged, so that the copy is a state that the sandbox was in. New
 * directories are staged as a whole while nothing is written in them: they are then moved into place in one step.
 *
 * With renamed directories the sandbox is paused afterwards, from that comparison on.
 */
async function stagedOf(
  staging: string,
  by: Parameters<typeof Staged.begin>[1],
  { look, affected, made, pause }: SandboxState,
): Promise<{ changes: WorkspaceChange[]; staged: Staged }> {
  let staged = await Staged.begin(staging, by);
  let changes: WorkspaceChange[];
  try {
    changes = await look((some) => staged.ahead(some));
  } finally {
    await staged.aheadWritten;
  }
  await staged.useWhole(await newDirectories(changes), changes.length);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await staged.take(changes);
    const isBusy = attempt >= UNPAUSED_ATTEMPTS && changes.length <= PAUSED_CHANGES;
    await affected()?.prepare(changes, made());
    if (affected() !== undefined || isBusy) await pause.begin();
    let after = await look();
    if (isBusy && after !== changes && (await lacking(after, staged, affected())) <= PAUSED_BYTES) {
      // What was written between the two: there is no more of it now.
      await staged.take(after);
      await affected()?.preserve(after);
      after = await look();
    }
    const isCopied = (after === changes || !staged.hasWhole) && (await staged.holds(after));
    const others = affected();
    if (isCopied && pause.isPaused && (await others?.isPrepared(after))) return { changes: after, staged };
    await pause.end();
    if (isCopied && others === undefined) return { changes: after, staged };
    if (staged.hasWhole) {
      await emptyTree(staging);
      staged = await Staged.begin(staging, by);
    }
    changes = after;
  }
  throw new ServiceError('ABORTED', 'the sandbox keeps writing to the files that are to be committed; try again');
}

/** Bytes that are to be copied for these changes in a pause. */
async function lacking(changes: readonly WorkspaceChange[], staged: Staged, others?: OtherSandboxes): Promise<number> {
  return (await staged.lacking(changes, FILE_COST)) + ((await others?.lacking(changes, FILE_COST)) ?? 0);
}

const hasMoved = (own: readonly OwnDirectory[]) => own.some(({ origin }) => origin !== undefined);

const textOf = (mount: Platform['mount'], id: string) => async (path: ByteString) =>
  (await mount.redactedTexts(id, path, 'commit')).now;

async function refuseConflicts(changes: readonly WorkspaceChange[], request: CommitChanges): Promise<void> {
  const conflicts = await filtered(changes, ({ conflict }) => conflict);
  if (conflicts.length === 0 || request.on_conflict !== '') return;
  const named = conflicts.slice(0, 5).map(({ path }) => quote(path));
  const more = conflicts.length > named.length ? ` and ${conflicts.length - named.length} more` : '';
  throw new ServiceError(
    'ABORTED',
    `nothing is committed: the codebase has another version than the sandbox started from of ${named.join(', ')}${more}`,
    [{ conflicts: namedPaths(conflicts) }],
  );
}

/** Whether the error is the refusal caused by a conflict. */
export function isConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'ABORTED' && error.details.length > 0;
}
