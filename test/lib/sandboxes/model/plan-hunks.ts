import type { ChosenHunks, FileChange, Hunk } from '../../../../lib/contract/messages.ts';
import { WRITE } from '../../../../lib/permissions/index.ts';
import { changesOf } from './doors.ts';
import { put, without } from './effects.ts';
import type { Known } from './known.ts';
import { cameLater, checkCommitted, fail, requireSame } from './oracle.ts';
import type { Check, Plan } from './plan.ts';
import { levelAt } from './rules.ts';
import type { CallStep } from './steps.ts';
import {
  contentOf,
  difference,
  directory,
  file,
  isDirectory,
  modeOf,
  overlaid,
  parentOf,
  type Tree,
  upwards,
} from './tree.ts';
import type { World } from './world.ts';

type HunksStep = Extract<CallStep, readonly ['commit hunks', ...unknown[]]>;

/** A commit of some hunks, as they were shown, and of paths: the codebase gets exactly what was shown. */
export function planHunks(world: World, known: Known, tree: Tree, step: HunksStep): Plan {
  const [, place, on_conflict, pick, paths] = step;
  const { id } = known;
  const base = world.base;
  const later = cameLater(known, tree, base, known.changes);
  let expected = base;
  const run = async () => {
    const changes = await changesOf(world.server, id, true);
    const withHunks = changes.filter(({ diff }) => diff !== undefined && diff.hunks.length > 0);
    const change = withHunks[pick % Math.max(1, withHunks.length)];
    if (change === undefined) return;
    checkShownHunks(change, tree, base);
    const { base_sha256, sha256, hunks } = change.diff!;
    const some = hunks.flatMap((_, index) => ((pick >> 3) & (1 << (index % 5)) ? [index] : []));
    const indexes = some.length > 0 ? some : [0];
    const part: ChosenHunks = { path: change.path, base_sha256, sha256, indexes };
    const whole = paths.length === 0 ? base : overlaid(base, new Map([...tree, ...later]), paths);
    expected = withPart(whole, tree, change, indexes, base);
    await world.server.sandboxes.commit({
      sandbox_id: id,
      paths: [...paths],
      on_conflict,
      dry_run: false,
      hunks: [part],
    });
  };
  // Of the paths in conflict: see `planCommit`.
  const isGivenUp = on_conflict === 'theirs' && known.changes.some(({ conflict }) => conflict);
  const check: Check = (seen) => {
    if (!isGivenUp) requireSame('after the commit of hunks', seen, expected);
    for (const path of difference(seen, base)) {
      if (levelAt(known.rules, path).level < WRITE) fail(`${path} was committed against the rules`);
    }
  };
  const own: Check = (seen) => {
    if (!isGivenUp) checkCommitted(seen, tree, later);
  };
  return { place, run, effect: { base: check, own } };
}

const comparedWith = ({ kind, path, renamed_from }: FileChange): string =>
  kind === 'CHANGE_ADDED' ? renamed_from : path;

/** All of the hunks make the sandbox's version out of the codebase's. */
function checkShownHunks(change: FileChange, tree: Tree, base: Tree): void {
  const was = base.get(comparedWith(change));
  if (was === undefined)
    fail(`${change.path} is compared with ${comparedWith(change)}, which the codebase does not have`);
  const { hunks, base_mode } = change.diff!;
  const all = hunks.map((_, index) => index);
  if (applied(contentOf(was), hunks, all) !== contentOf(tree.get(change.path)!))
    fail(`the hunks of ${change.path} do not make its contents`);
  if (base_mode !== modeOf(was)) fail(`base_mode of ${change.path} is ${base_mode.toString(8)}`);
}

/** What the codebase has with the chosen hunks: of a renamed file under its new name alone. */
function withPart(
  committed: Tree,
  tree: Tree,
  change: FileChange,
  indexes: readonly number[],
  base: Tree,
): Map<string, string> {
  const { path, kind, diff } = change;
  const from = comparedWith(change);
  const was = base.get(from)!;
  const entry = file(applied(contentOf(was), diff!.hunks, indexes), modeOf(was));
  const moved = kind === 'CHANGE_ADDED' && !tree.has(from);
  const result = put(moved ? without(committed, from) : committed, path, entry);
  for (const at of upwards(parentOf(path))) if (!isDirectory(result.get(at))) result.set(at, directory());
  return result;
}

/** By line numbers alone: the plain meaning of what is shown. */
function applied(text: string, hunks: readonly Hunk[], indexes: readonly number[]): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  for (const index of [...indexes].reverse()) {
    const { old_start, old_lines, removed, added } = hunks[index]!;
    const replaced = lines.splice(old_start - 1, old_lines, ...(added === '' ? [] : [added]));
    if (replaced.join('') !== removed) fail(`a hunk removes ${JSON.stringify(removed)}, which is not there`);
  }
  return lines.join('');
}
