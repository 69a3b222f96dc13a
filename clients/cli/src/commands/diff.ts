import { exportChanges } from '../../../typescript/src/changes.ts';
import { CHOICE_OPTIONS, changeLine, choiceOf } from '../changes.ts';
import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { shownPatch } from '../patch.ts';
import { warnOfUnpacked } from '../unpacked.ts';

export default command({
  name: 'diff',
  summary: 'show the changes of a sandbox',
  usage: 'SANDBOX [PATH...]',
  details: 'In a pipe or a file the result is a patch for "git apply".',
  options: {
    'name-only': { type: 'boolean', help: 'the paths, with A, M or D' },
    ...CHOICE_OPTIONS,
  },
  examples: ['paddock diff ID', 'paddock diff ID src > src.patch', 'paddock diff ID --json'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...paths], values }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const choice = { ...choiceOf(paths, values), signal };
    if (out.json) out.value(await sandbox.changes(choice));
    else if (values['name-only'])
      for (const each of await sandbox.changes(choice)) out.line(changeLine(each, out.paint));
    else if (out.isTerminal) out.bytes(shownPatch(await sandbox.patch(choice), out.paint));
    else {
      // As it is: contents may be in another encoding.
      await warnOfUnpacked(sandbox, { selection: choice, format: 'patch' }, out);
      const patch = await exportChanges(sandbox.api, sandbox.id, choice, { format: 'patch', whole: true });
      out.bytes(new Uint8Array(await patch.arrayBuffer()));
    }
    return 0;
  },
});
