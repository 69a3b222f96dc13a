import type { Sandbox } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';

/** "STATUS_RUNNING" is shown as "running". */
const statusText = ({ status }: Sandbox): string => status.replace(/^STATUS_/, '').toLowerCase();

export default command({
  name: 'ls',
  summary: 'list sandboxes',
  usage: '',
  options: { quiet: { type: 'boolean', short: 'q', help: 'only the ids' } },
  examples: ['paddock ls', 'paddock ls --json'],
  operands: [0, 0],
  async run({ out, paddock, signal }, { values }) {
    const sandboxes: Sandbox[] = [];
    for await (const each of (await paddock()).sandboxes.list({ signal })) sandboxes.push(each);
    if (out.json) out.value(sandboxes);
    else if (values.quiet) for (const { id } of sandboxes) out.line(id);
    else
      out.table(
        ['SANDBOX', 'STATUS', 'CODEBASE'],
        sandboxes.map((each) => [each.id, statusText(each), each.codebaseId]),
      );
    return 0;
  },
});
