import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { printableText, quotedName } from '../printable.ts';

export default command({
  name: 'rules preview',
  summary: 'print a file as commands read it, with placeholders for its values',
  usage: 'SANDBOX PATH',
  details: 'At most 256 KiB. With --json the answer has the keys of the values, too, which secrets are bound by.',
  options: {},
  examples: ['paddock rules preview ID .env'],
  operands: [2, 2],
  async run(context, { operands: [id, path] }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const found = await sandbox.rules.preview(path!.replace(/^(\/workspace\/|(\.\/)+)/, ''), { signal });
    const name = quotedName(found.path);
    if (!found.redacted)
      out.warn(`no rule with "redacted" decides for ${name}: paddock rules explain tells which one does`);
    else if (found.hidden) out.warn(`${name} is hidden as a whole: it is too large, or not of its redactor's format`);
    out.result(found, () => printableText(found.content.replace(/\n$/, '')));
    return 0;
  },
});
