import { CHOICE_OPTIONS, changeLine, choiceOf, counted } from '../changes.ts';
import { command } from '../command.ts';
import { CliError, UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { quotedName } from '../printable.ts';
import { OWNED } from '../upload.ts';

export default command({
  name: 'commit',
  summary: 'move changes of a sandbox into its codebase',
  usage: 'SANDBOX [PATH...]',
  options: {
    'dry-run': { type: 'boolean', short: 'n', help: 'only show what would be committed' },
    'on-conflict': { type: 'string', value: 'ours|theirs', help: "the sandbox's version wins, or the codebase's" },
    ...CHOICE_OPTIONS,
  },
  examples: ['paddock commit ID', 'paddock commit ID src --dry-run'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...paths], values }) {
    const { out, signal } = context;
    const onConflict = values['on-conflict'];
    if (onConflict !== undefined && onConflict !== 'ours' && onConflict !== 'theirs') {
      throw new UsageError('--on-conflict is ours or theirs');
    }
    const sandbox = await findSandbox(context, id!);
    const dryRun = values['dry-run'] ?? false;
    // What was committed is never removed with the sandbox; before the commit, whose answer may be lost.
    if (!dryRun && sandbox.info.labels[OWNED]) await sandbox.update({ removeLabels: [OWNED] }, { signal });
    const done = await sandbox.commit({ ...choiceOf(paths, values), onConflict, dryRun, signal }).catch((error) => {
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
    return 0;
  },
});
