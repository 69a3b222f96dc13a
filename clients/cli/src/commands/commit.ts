import type { CommitOptions, Sandbox } from 'paddock-sandbox';
import { any, type Context, command, one } from '../command-line/command.ts';
import { CliError, UsageError } from '../command-line/errors.ts';
import { quotedName } from '../output/printable.ts';
import { CHOICE_OPTIONS, changeLine, choiceOf, counted } from '../review/changes.ts';
import { choose, show } from '../review/choose.ts';
import { committedOf } from '../review/committed.ts';
import { OWNED } from '../uploads/new-sandbox.ts';

export const commit = command({
  summary: 'move changes of a sandbox into its codebase',
  operands: { sandbox: one('SANDBOX'), paths: any('PATH') },
  options: {
    'dry-run': { short: 'n', help: 'only show what would be committed' },
    patch: { short: 'p', help: 'show the changes, and choose files and hunks' },
    'on-conflict': { oneOf: ['ours', 'theirs'], help: "the sandbox's version wins, or the codebase's" },
    ...CHOICE_OPTIONS,
  },
  examples: ['paddock commit SANDBOX', 'paddock commit SANDBOX src --dry-run', 'paddock commit SANDBOX -p'],
  async run(context, { operands: { sandbox: given, paths }, values }) {
    const { out, signal } = context;
    const { 'on-conflict': onConflict, 'dry-run': dryRun = false } = values;
    const sandbox = await context.sandbox(given);
    const choice = values.patch
      ? await choiceAsked(context, sandbox, choiceOf(paths, values))
      : choiceOf(paths, values);
    if (choice === undefined) return out.note('nothing is committed');
    // What was committed is never removed with the sandbox; before the commit, whose answer may be lost.
    if (!dryRun && sandbox.info.labels[OWNED]) await sandbox.update({ removeLabels: [OWNED] }, { signal });
    const done = await sandbox.commit({ ...choice, onConflict, dryRun, signal }).catch((error) => {
      const { paths: conflicts = [] } = error as { paths?: readonly string[] };
      if (conflicts.length === 0) throw error;
      throw new CliError(
        `nothing was committed; the codebase changed, too, at ${conflicts.map(quotedName).join(', ')}`,
      );
    });
    out.result(done, () =>
      [
        ...done.changes.map((each) => changeLine(each, out.paint)),
        `${counted(done.count, 'change')} ${dryRun ? 'would be committed' : 'committed'}`,
      ].join('\n'),
    );
  },
});

/** Asks on the terminal. undefined: for nothing. */
async function choiceAsked(
  context: Context,
  sandbox: Sandbox,
  selection: ReturnType<typeof choiceOf>,
): Promise<CommitOptions | undefined> {
  const { out, signal } = context;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw new UsageError('-p asks on a terminal, and there is none');
  // The threat: a program that goes on changes what was looked at.
  if (sandbox.info.status === 'running')
    throw new CliError(`the sandbox runs, and may change what you look at: "paddock stop ${sandbox.id}" first`);
  const changes = await sandbox.changes({ ...selection, signal });
  if (changes.length === 0) return undefined;
  await show(sandbox, changes, context);
  const taken = await choose(sandbox, changes, context);
  if (taken === 'all') return selection;
  if (taken === 'none') return undefined;
  const { left, ...chosen } = committedOf(taken, changes);
  for (const path of left) out.warn(`the mode of ${path}/ is left out, because something in it is`);
  const isNothing = chosen.paths === undefined && taken.hunks.length === 0;
  return isNothing ? undefined : { ...selection, ...chosen };
}
