import { any, command, one } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { shownPatch } from '../output/patch.ts';
import { CHOICE_OPTIONS, changeLine, choiceOf, counted } from '../review/changes.ts';
import { warnOfUnpacked } from '../review/warn-of-archive.ts';

export const diff = command({
  summary: 'show the changes of a sandbox',
  details: 'In a pipe or a file the result is a patch for "git apply".',
  operands: { sandbox: one('SANDBOX'), paths: any('PATH') },
  options: {
    'name-only': { help: 'the paths, with A, M or D' },
    tar: { help: 'the changed files as a tar archive, without what was removed' },
    ...CHOICE_OPTIONS,
  },
  examples: [
    'paddock diff SANDBOX',
    'paddock diff SANDBOX src > src.patch',
    'paddock diff SANDBOX --tar > changes.tar',
    'paddock diff SANDBOX --json',
  ],
  async run(context, { operands: { sandbox: given, paths }, values }) {
    const { out, signal } = context;
    if (values.tar && out.isTerminal) throw new UsageError('standard output is a terminal; redirect the archive');
    const sandbox = await context.sandbox(given);
    const choice = { ...choiceOf(paths, values), signal };
    if (out.json) return out.value(await sandbox.changes(choice));
    if (values['name-only']) {
      for (const each of await sandbox.changes(choice)) out.line(changeLine(each, out.paint));
      return;
    }
    if (out.isTerminal) return out.bytes(shownPatch(await sandbox.patch(choice), out.paint));
    const format = values.tar ? 'tar' : 'patch';
    await warnOfUnpacked(sandbox, { selection: choice, format }, out);
    // As it is: contents may be in another encoding.
    const request = { ...choiceOf(paths, values), sandboxId: sandbox.id, format };
    const { body } = await sandbox.api.exportChanges(request, { signal, whole: !values.tar });
    await out.flow(body as unknown as AsyncIterable<Uint8Array>);
  },
});

export const discard = command({
  summary: 'drop changes of a sandbox',
  operands: { sandbox: one('SANDBOX'), paths: any('PATH') },
  options: { all: { short: 'a', help: 'all changes' }, ...CHOICE_OPTIONS },
  examples: ['paddock discard SANDBOX src/main.ts', 'paddock discard SANDBOX --all'],
  async run(context, { operands: { sandbox: given, paths }, values }) {
    if ((paths.length === 0) !== (values.all ?? false)) throw new UsageError('name the paths, or --all');
    const sandbox = await context.sandbox(given);
    const discarded = await sandbox.discard({ ...choiceOf(paths, values), signal: context.signal });
    context.out.result({ discarded }, () => `${counted(discarded, 'change')} discarded`);
  },
});
